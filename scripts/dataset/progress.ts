/** Shows the progress of an upload: a bar on a terminal, a line at intervals elsewhere. */

export interface ProgressStream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

/** Intervals of the bar and of the lines. */
const BAR_MS = 100;
const LINE_MS = 5000;
const BAR_WIDTH = 24;

export class Progress {
  readonly #stream: ProgressStream;
  readonly #totalBytes: number | undefined;
  readonly #startedAt = performance.now();
  #shownAt = Number.NEGATIVE_INFINITY;
  #shown = false;
  #complete = false;

  /** @param totalBytes size of the upload, if known */
  constructor(stream: ProgressStream, totalBytes: number | undefined) {
    this.#stream = stream;
    this.#totalBytes = totalBytes;
    if (stream.isTTY !== true) this.#shownAt = this.#startedAt;
  }

  update(bytes: number): void {
    const now = performance.now();
    const complete = bytes === this.#totalBytes && !this.#complete;
    if (!complete && now - this.#shownAt < (this.#stream.isTTY === true ? BAR_MS : LINE_MS)) return;
    this.#complete = complete;
    this.#shownAt = now;
    this.#show(this.#describe(bytes, now - this.#startedAt));
  }

  /** Clears the bar. */
  end(): void {
    if (this.#shown && this.#stream.isTTY === true) this.#stream.write("\r\u001b[K");
  }

  #describe(bytes: number, ms: number): string {
    const rate = `${size((bytes * 1000) / Math.max(ms, 1))}/s`;
    if (this.#totalBytes === undefined) return `${size(bytes)} sent, ${rate}`;
    const share = this.#totalBytes === 0 ? 1 : bytes / this.#totalBytes;
    const filled = Math.round(share * BAR_WIDTH);
    const bar = `${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)}`;
    const percent = `${Math.floor(share * 100)} %`;
    const what = share === 1 ? "all sent; the twins are making the dataset" : rate;
    const parts = this.#stream.isTTY === true ? [bar] : [];
    return [...parts, percent, `${size(bytes)} of ${size(this.#totalBytes)}`, what].join("  ");
  }

  #show(text: string): void {
    this.#shown = true;
    if (this.#stream.isTTY === true) {
      this.#stream.write(`\r\u001b[K${text.slice(0, (this.#stream.columns ?? 80) - 1)}`);
    } else this.#stream.write(`${text}\n`);
  }
}

/** Formats bytes for people: `1.2 MB`. */
export function size(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  for (; value >= 1000 && unit < units.length - 1; unit++) value /= 1000;
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Finds lines of a chosen file, so that a refusal can show the text it is about. */

/** A longer line is shown around the place that is meant. */
const MAX_LINE_CHARACTERS = 2_000;

/**
 * Reads the file up to the last line that is wanted, a chunk at a time.
 * @param wanted line numbers, from 1
 * @returns the text of those that the file has
 */
export async function readLines(
  file: File,
  wanted: readonly number[],
  signal: AbortSignal,
): Promise<Map<number, string>> {
  const lines = new Map<number, string>();
  const numbers = new Set(wanted);
  const last = Math.max(0, ...wanted);
  let number = 1;
  let line = "";
  for await (const chunk of readText(file, signal)) {
    let start = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
      if (numbers.has(number)) lines.set(number, (line + chunk.slice(start, end)).replace(/\r$/, ""));
      line = "";
      number += 1;
      start = end + 1;
      if (number > last) return lines;
    }
    if (numbers.has(number) && line.length < MAX_LINE_CHARACTERS) line += chunk.slice(start);
  }
  if (numbers.has(number) && line !== "") lines.set(number, line);
  return lines;
}

async function* readText(file: File, signal: AbortSignal): AsyncGenerator<string> {
  const bytes: ReadableStream<BufferSource> = file.stream();
  const plain = (await isGzip(file)) ? bytes.pipeThrough(new DecompressionStream("gzip")) : bytes;
  const reader = plain.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function isGzip(file: File): Promise<boolean> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  return first === 0x1f && second === 0x8b;
}

/** Part of a line around a column, and where in it that column is. */
export interface Excerpt {
  before: string;
  /** The character at the column; empty at the end of the line. */
  at: string;
  after: string;
}

const AROUND_CHARACTERS = 60;

/** @param column from 1; without one the line's beginning is shown */
export function excerptOf(line: string, column: number | undefined): Excerpt {
  const index = Math.max(0, (column ?? 1) - 1);
  const start = Math.max(0, index - AROUND_CHARACTERS);
  const end = index + AROUND_CHARACTERS;
  return {
    before: `${start > 0 ? "…" : ""}${line.slice(start, index)}`,
    at: column === undefined ? "" : line.slice(index, index + 1),
    after: `${line.slice(column === undefined ? index : index + 1, end)}${end < line.length ? "…" : ""}`,
  };
}

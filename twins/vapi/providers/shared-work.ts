/**
 * Work that many may ask for at once and again: done once while under way, and its latest results kept. What was used
 * longest ago goes first when they take too much memory.
 */
export interface SharedWorkOptions<Request, Result> {
  /** The same for requests with the same result. */
  key(request: Request): string;
  run(request: Request, signal: AbortSignal): Promise<Result>;
  sizeBytes(result: Result): number;
  mostBytes: number;
}

interface UnderWay<Result> {
  result: Promise<Result>;
  /** Stops the work; for when nobody waits for it any more. */
  stop: AbortController;
  waiting: number;
}

export class SharedWork<Request, Result> {
  readonly #options: SharedWorkOptions<Request, Result>;
  readonly #underWay = new Map<string, UnderWay<Result>>();
  /** Least recently used first. */
  readonly #kept = new Map<string, Result>();
  #keptBytes = 0;

  constructor(options: SharedWorkOptions<Request, Result>) {
    this.#options = options;
  }

  /** @throws the signal's reason when aborted, which leaves others who wait for the same undisturbed. */
  async get(request: Request, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted();
    const key = this.#options.key(request);
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept;
    }
    const work = this.#underWay.get(key) ?? this.#begin(key, request);
    work.waiting += 1;
    try {
      return await unlessAborted(work.result, signal);
    } finally {
      work.waiting -= 1;
      if (work.waiting === 0) this.#abandon(key, work);
    }
  }

  #begin(key: string, request: Request): UnderWay<Result> {
    const stop = new AbortController();
    const work = { result: this.#options.run(request, stop.signal), stop, waiting: 0 };
    this.#underWay.set(key, work);
    work.result.then(
      (result) => this.#finish(key, work, result),
      () => this.#forget(key, work),
    );
    return work;
  }

  /** Nobody waits: work that still runs is stopped, and whoever asks next begins anew. */
  #abandon(key: string, work: UnderWay<Result>): void {
    this.#forget(key, work);
    work.stop.abort();
  }

  #forget(key: string, work: UnderWay<Result>): void {
    if (this.#underWay.get(key) === work) this.#underWay.delete(key);
  }

  #finish(key: string, work: UnderWay<Result>, result: Result): void {
    if (this.#underWay.get(key) !== work) return;
    this.#underWay.delete(key);
    const bytes = this.#options.sizeBytes(result);
    if (bytes > this.#options.mostBytes) return;
    this.#kept.set(key, result);
    this.#keptBytes += bytes;
    for (const [oldest, its] of this.#kept) {
      if (this.#keptBytes <= this.#options.mostBytes) break;
      this.#kept.delete(oldest);
      this.#keptBytes -= this.#options.sizeBytes(its);
    }
  }
}

function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

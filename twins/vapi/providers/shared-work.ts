/** Deduplicates requests: runs equal concurrent ones once (single-flight), and keeps results in an LRU cache. */
export interface SharedWorkOptions<Request, Result> {
  /** Equal for requests with the same result. */
  key(request: Request): string;
  run(request: Request, signal: AbortSignal): Promise<Result>;
  sizeBytes(result: Result): number;
  /** Capacity of the cache. */
  maxBytes: number;
}

interface Flight<Result> {
  result: Promise<Result>;
  /** Aborts the work when nobody waits for it any more. */
  stop: AbortController;
  waiting: number;
}

export class SharedWork<Request, Result> {
  readonly #options: SharedWorkOptions<Request, Result>;
  readonly #inFlight = new Map<string, Flight<Result>>();
  /** Least recently used first. */
  readonly #cache = new Map<string, Result>();
  #cacheBytes = 0;

  constructor(options: SharedWorkOptions<Request, Result>) {
    this.#options = options;
  }

  /** @throws the signal's reason when aborted; others who wait for the same result are not affected */
  async get(request: Request, signal: AbortSignal): Promise<Result> {
    signal.throwIfAborted();
    const key = this.#options.key(request);
    const cached = this.#cache.get(key);
    if (cached !== undefined) {
      this.#cache.delete(key);
      this.#cache.set(key, cached);
      return cached;
    }
    const work = this.#inFlight.get(key) ?? this.#begin(key, request);
    work.waiting += 1;
    try {
      return await unlessAborted(work.result, signal);
    } finally {
      work.waiting -= 1;
      if (work.waiting === 0) this.#abandon(key, work);
    }
  }

  #begin(key: string, request: Request): Flight<Result> {
    const stop = new AbortController();
    const work = { result: this.#options.run(request, stop.signal), stop, waiting: 0 };
    this.#inFlight.set(key, work);
    work.result.then(
      (result) => this.#finish(key, work, result),
      () => this.#forget(key, work),
    );
    return work;
  }

  /** Aborts work that nobody waits for; the next request starts afresh. */
  #abandon(key: string, work: Flight<Result>): void {
    this.#forget(key, work);
    work.stop.abort();
  }

  #forget(key: string, work: Flight<Result>): void {
    if (this.#inFlight.get(key) === work) this.#inFlight.delete(key);
  }

  #finish(key: string, work: Flight<Result>, result: Result): void {
    if (this.#inFlight.get(key) !== work) return;
    this.#inFlight.delete(key);
    const bytes = this.#options.sizeBytes(result);
    if (bytes > this.#options.maxBytes) return;
    this.#cache.set(key, result);
    this.#cacheBytes += bytes;
    for (const [oldest, its] of this.#cache) {
      if (this.#cacheBytes <= this.#options.maxBytes) break;
      this.#cache.delete(oldest);
      this.#cacheBytes -= this.#options.sizeBytes(its);
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

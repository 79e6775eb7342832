/**
 * The memory of one database, which the statements that run at the same time share: DuckDB limits all of them together, and the one
 * that asks for the last block fails, whichever has taken the most. So a statement that runs out of memory beside others runs once
 * more alone, with all of the memory: only a statement that does not fit by itself fails.
 */
import { OutOfMemory } from "./log-store.ts";

/** Each of DuckDB's errors begins with its kind. */
const DUCKDB_ERROR = "Out of Memory Error:";

interface Running {
  /** Whether another statement has run at the same time. */
  accompanied: boolean;
}

export class SharedMemory {
  readonly #limitBytes: number;
  readonly #running = new Set<Running>();
  /** Statements that have to run alone, in their order; the first runs or waits for the others to end. */
  readonly #alone: (() => void)[] = [];
  /** Those that wait until no statement has to run alone. */
  readonly #waiting = new Set<() => void>();

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /**
   * Does the work beside others, and once more alone when it ran out of memory beside others. It must be the same each time: what has
   * failed has left nothing behind.
   * @param signal aborting while it waits for others throws the signal's reason
   * @throws OutOfMemory when it does not fit alone
   */
  async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    while (this.#alone.length > 0) await this.#untilShared(signal);
    const running: Running = { accompanied: this.#running.size > 0 };
    for (const other of this.#running) other.accompanied = true;
    this.#running.add(running);
    try {
      return await work();
    } catch (error) {
      if (!isOutOfMemory(error)) throw error;
      if (!running.accompanied) throw new OutOfMemory(this.#limitBytes);
    } finally {
      this.#running.delete(running);
      if (this.#running.size === 0) this.#alone[0]?.();
    }
    return this.#runAlone(work, signal);
  }

  async #runAlone<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    this.#alone.push(begin);
    if (this.#alone[0] === begin && this.#running.size === 0) begin();
    try {
      await unlessAborted(begun, signal);
      return await work();
    } catch (error) {
      throw isOutOfMemory(error) ? new OutOfMemory(this.#limitBytes) : error;
    } finally {
      this.#alone.splice(this.#alone.indexOf(begin), 1);
      this.#passOn();
    }
  }

  #passOn(): void {
    const [next] = this.#alone;
    if (next === undefined) {
      for (const resume of [...this.#waiting]) resume();
    } else if (this.#running.size === 0) next();
  }

  async #untilShared(signal?: AbortSignal): Promise<void> {
    let resume = () => {};
    const shared = new Promise<void>((resolve) => {
      resume = resolve;
    });
    this.#waiting.add(resume);
    try {
      await unlessAborted(shared, signal);
    } finally {
      this.#waiting.delete(resume);
    }
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith(DUCKDB_ERROR);
}

/** Waits for something, unless the signal aborts before: then its reason is thrown. */
export function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

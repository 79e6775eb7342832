/**
 * The memory of one database, shared by its concurrent statements. DuckDB limits them together, and the statement that asks for the
 * last block fails, even if another has taken more. So a statement that runs out of memory beside others is retried alone: only a
 * statement that does not fit by itself fails.
 */
import { OutOfMemory } from "./log-store.ts";

/** DuckDB's messages begin with the kind of the error. */
const DUCKDB_ERROR = "Out of Memory Error:";

interface Running {
  /** Whether another statement has run at the same time. */
  accompanied: boolean;
}

export class SharedMemory {
  readonly #limitBytes: number;
  readonly #running = new Set<Running>();
  /** Statements that must run alone, first in, first out; the first runs or waits for the running ones to end. */
  readonly #alone: (() => void)[] = [];
  /** Statements that wait until none must run alone. */
  readonly #waiting = new Set<() => void>();

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /**
   * Runs work beside others, and retries it alone when it ran out of memory beside others. So a failed attempt must have no effect.
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
      await raceAbort(begun, signal);
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
      await raceAbort(shared, signal);
    } finally {
      this.#waiting.delete(resume);
    }
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith(DUCKDB_ERROR);
}

/** Waits for work, or throws the signal's reason when it aborts first. */
export function raceAbort(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

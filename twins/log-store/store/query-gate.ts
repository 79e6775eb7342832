/**
 * Limits how many DuckDB statements run at once in this process. Each occupies a thread of libuv's pool (four by default), which files
 * and DNS need too: so two run, and the others queue. Stores take turns, so that one busy store does not starve the others.
 */
import { QueueFull } from "./log-store.ts";

const MAX_RUNNING = 2;
/** Of one store. */
const MAX_WAITING = 256;

interface Waiting {
  begin(): void;
}

export class QueryGate {
  readonly #limit: number;
  readonly #maxWaiting: number;
  /** By store; the first store is next. */
  readonly #queues = new Map<object, Set<Waiting>>();
  #running = 0;

  constructor(limit = MAX_RUNNING, maxWaiting = MAX_WAITING) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs work when there is room.
   * @param owner the store that it belongs to
   * @param signal aborting it while the work queues removes it and throws the signal's reason; running work must watch the signal itself
   * @throws QueueFull
   */
  async run<Result>(owner: object, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#running < this.#limit) this.#running++;
    else await this.#enqueue(owner, signal);
    try {
      return await work();
    } finally {
      this.#handOver();
    }
  }

  #enqueue(owner: object, signal: AbortSignal | undefined): Promise<void> {
    const queue = this.#queues.get(owner) ?? new Set();
    if (queue.size >= this.#maxWaiting) throw new QueueFull(queue.size);
    this.#queues.set(owner, queue);
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.delete(waiting);
        if (queue.size === 0) this.#queues.delete(owner);
        reject(signal?.reason);
      };
      const waiting: Waiting = {
        begin: () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      queue.add(waiting);
      signal?.addEventListener("abort", leave, { once: true });
    });
  }

  /** Passes the free place to the first work of the next store, which then goes to the end of the line. */
  #handOver(): void {
    const [next] = this.#queues;
    if (!next) {
      this.#running--;
      return;
    }
    const [owner, queue] = next;
    const [first] = queue;
    this.#queues.delete(owner);
    if (first) queue.delete(first);
    if (queue.size > 0) this.#queues.set(owner, queue);
    first?.begin();
  }
}

/** The gate of this process. */
export const queryGate = new QueryGate();

/**
 * How many DuckDB statements are at work in this process. Each occupies a thread of libuv's pool (four by default), which files and
 * DNS need too; so two, and the others wait. Stores take turns: one that asks a lot does not keep the others waiting.
 */
import { QueueFull } from "./log-store.ts";

const AT_WORK = 2;
/** How many of one store may wait. */
const MAX_WAITING = 256;

interface Waiting {
  begin(): void;
}

export class QueryGate {
  readonly #limit: number;
  readonly #maxWaiting: number;
  /** Those waiting, by store; the store at the front has its turn next. */
  readonly #queues = new Map<object, Set<Waiting>>();
  #atWork = 0;

  constructor(limit = AT_WORK, maxWaiting = MAX_WAITING) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Does the work when there is room. @param owner whose it is.
   * @param signal aborting while it waits takes it out of the queue and throws the signal's reason; the work itself watches it later.
   * @throws QueueFull
   */
  async run<Result>(owner: object, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    if (this.#atWork < this.#limit) this.#atWork++;
    else await this.#turn(owner, signal);
    try {
      return await work();
    } finally {
      this.#pass();
    }
  }

  #turn(owner: object, signal: AbortSignal | undefined): Promise<void> {
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

  /** Hands the place on: to the first of the store whose turn it is, which then goes to the end of the line. */
  #pass(): void {
    const [next] = this.#queues;
    if (!next) {
      this.#atWork--;
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

/** The one of this process. */
export const queryGate = new QueryGate();

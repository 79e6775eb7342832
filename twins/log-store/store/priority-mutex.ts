/** A mutex with two queues: work that a caller waits for goes before background work. Each queue is first in, first out. */
import { setImmediate } from "node:timers/promises";
import { QueueFull } from "./log-store.ts";

const MAX_WAITING = 1000;
/** Background work runs at the latest after this time. */
const PATIENCE_MS = 250;

interface Waiting {
  begin(): void;
  since: number;
}

export class PriorityMutex {
  readonly #patienceMs: number;
  readonly #foreground: Waiting[] = [];
  readonly #background: Waiting[] = [];
  #isLocked = false;

  constructor(patienceMs = PATIENCE_MS) {
    this.#patienceMs = patienceMs;
  }

  /** Runs work that a caller waits for. @throws QueueFull */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#run(this.#foreground, work);
  }

  /** Runs work when no caller waits, or when it has been put off for `patienceMs`. @throws QueueFull */
  runInBackground<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#run(this.#background, work);
  }

  async #run<Result>(queue: Waiting[], work: () => Promise<Result>): Promise<Result> {
    if (queue.length >= MAX_WAITING) throw new QueueFull(queue.length);
    await new Promise<void>((begin) => {
      queue.push({ begin, since: performance.now() });
      if (!this.#isLocked) this.#handOver();
    });
    try {
      return await work();
    } finally {
      this.#handOver();
    }
  }

  #handOver(): void {
    this.#isLocked = true;
    const [background] = this.#background;
    const isLate = background !== undefined && performance.now() - background.since >= this.#patienceMs;
    const next = isLate ? this.#background.shift() : this.#foreground.shift();
    if (next) next.begin();
    else if (background) void this.#handOverWhenIdle();
    else this.#isLocked = false;
  }

  /** The caller of the work that just ended may ask for more at once, and that goes first. */
  async #handOverWhenIdle(): Promise<void> {
    await setImmediate();
    const next = this.#foreground.shift() ?? this.#background.shift();
    next?.begin();
  }
}

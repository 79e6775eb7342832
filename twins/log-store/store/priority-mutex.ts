/** Work that is done one after the other, in the order it was asked for: what nobody waits for goes after what somebody does. */
import { setImmediate } from "node:timers/promises";
import { QueueFull } from "./log-store.ts";

const MAX_WAITING = 1000;
/** What nobody waits for has its turn in any case when it has waited for so long: it is put off, and not kept from being done. */
const PATIENCE_MS = 250;

interface Waiting {
  begin(): void;
  since: number;
}

export class Turns {
  readonly #patienceMs: number;
  readonly #asked: Waiting[] = [];
  readonly #spare: Waiting[] = [];
  #atWork = false;

  constructor(patienceMs = PATIENCE_MS) {
    this.#patienceMs = patienceMs;
  }

  /** Does what somebody waits for. @throws QueueFull */
  take<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#run(this.#asked, work);
  }

  /** Does what nobody waits for: when there is nothing else to do, or it was put off for long enough. @throws QueueFull */
  takeSpare<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#run(this.#spare, work);
  }

  async #run<Result>(queue: Waiting[], work: () => Promise<Result>): Promise<Result> {
    if (queue.length >= MAX_WAITING) throw new QueueFull(queue.length);
    await new Promise<void>((begin) => {
      queue.push({ begin, since: performance.now() });
      if (!this.#atWork) this.#pass();
    });
    try {
      return await work();
    } finally {
      this.#pass();
    }
  }

  #pass(): void {
    this.#atWork = true;
    const [spare] = this.#spare;
    const isLate = spare !== undefined && performance.now() - spare.since >= this.#patienceMs;
    const next = isLate ? this.#spare.shift() : this.#asked.shift();
    if (next) next.begin();
    else if (spare) void this.#passSpare();
    else this.#atWork = false;
  }

  /** Whoever waited for the work before may ask for more at once: that goes first. */
  async #passSpare(): Promise<void> {
    await setImmediate();
    const next = this.#asked.shift() ?? this.#spare.shift();
    next?.begin();
  }
}

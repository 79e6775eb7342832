/** Work on the index of words that is done between writes: a step at a time, as long as there is something to do. */
import type { Logger } from "pino";

/** An index that what is written has to be brought into. */
export interface KeptIndex {
  /** Whether there is something to do. */
  readonly due: boolean;
  /** Does some of it, in steps, each to be run by itself; others may write between them. */
  maintain(): AsyncGenerator<() => Promise<void>>;
}

export class Upkeep {
  readonly #index: KeptIndex;
  readonly #run: (step: () => Promise<void>) => Promise<void>;
  readonly #log: Logger | undefined;
  #atWork = false;
  #stopped = false;

  /** @param run runs a step while nobody else writes */
  constructor(index: KeptIndex, run: (step: () => Promise<void>) => Promise<void>, log: Logger | undefined) {
    this.#index = index;
    this.#run = run;
    this.#log = log;
  }

  /** Begins, unless it is at work or there is nothing to do. */
  async begin(): Promise<void> {
    if (this.#atWork) return;
    this.#atWork = true;
    try {
      while (this.#index.due && !this.#stopped) await this.#round();
    } catch (error) {
      // Lookups are slower than they could be, and still right.
      this.#log?.warn({ err: error }, "what has been written could not be put into the order of its words");
    } finally {
      this.#atWork = false;
    }
  }

  /** Nothing begins any more. */
  stop(): void {
    this.#stopped = true;
  }

  async #round(): Promise<void> {
    for await (const step of this.#index.maintain()) {
      await this.#run(async () => {
        if (!this.#stopped) await step();
      });
      if (this.#stopped) return;
    }
  }
}

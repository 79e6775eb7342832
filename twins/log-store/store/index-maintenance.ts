/** Maintains the text index between writes, a step at a time, as long as it is due. */
import type { Logger } from "pino";

/** An index that new rows are merged into later. */
export interface MaintainedIndex {
  readonly isDue: boolean;
  /** Does part of the work. Each step runs by itself; others may write between two steps. */
  maintain(): AsyncGenerator<() => Promise<void>>;
}

export class IndexMaintenance {
  readonly #index: MaintainedIndex;
  readonly #run: (step: () => Promise<void>) => Promise<void>;
  readonly #log: Logger | undefined;
  #isRunning = false;
  #isStopped = false;

  /** @param run runs a step while nobody else writes */
  constructor(
    index: MaintainedIndex,
    run: (step: () => Promise<void>) => Promise<void>,
    log: Logger | undefined,
  ) {
    this.#index = index;
    this.#run = run;
    this.#log = log;
  }

  /** Starts, unless it is running. Ends when nothing is due. */
  async start(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      while (this.#index.isDue && !this.#isStopped) await this.#round();
    } catch (error) {
      // Without maintenance lookups are slower, and still right.
      this.#log?.warn({ err: error }, "could not maintain the text index; searches may be slower");
    } finally {
      this.#isRunning = false;
    }
  }

  /** No further step begins. */
  stop(): void {
    this.#isStopped = true;
  }

  async #round(): Promise<void> {
    for await (const step of this.#index.maintain()) {
      await this.#run(async () => {
        if (!this.#isStopped) await step();
      });
      if (this.#isStopped) return;
    }
  }
}

/** Whether anybody still asks about a search: one that nobody has asked about for long is cancelled, or pauses. */
import type { Clock } from "@offhook/platform/base/clock";
import type { JobOptions } from "./job-options.ts";

export class Attention {
  readonly #clock: Clock;
  readonly #options: Pick<JobOptions, "autoCancelS" | "autoPauseS">;
  readonly #finishedMs: () => number | undefined;
  /** When somebody last asked, by the sandbox's clock. */
  #askedMs: number;
  #hasPaused = false;

  /** @param finishedMs when the search was over: what it waits for then is no longer counted */
  constructor(
    clock: Clock,
    options: Pick<JobOptions, "autoCancelS" | "autoPauseS">,
    sinceMs: number,
    finishedMs: () => number | undefined,
  ) {
    this.#clock = clock;
    this.#options = options;
    this.#askedMs = sinceMs;
    this.#finishedMs = finishedMs;
  }

  /** Somebody asks about it. */
  draw(): void {
    this.#askedMs = Math.max(this.#askedMs, this.#clock.now());
  }

  /** Whether nobody asked about it for so long, while it ran, that it is to be cancelled. */
  get isLost(): boolean {
    const { autoCancelS } = this.#options;
    return autoCancelS > 0 && this.#idleMs() >= autoCancelS * 1000;
  }

  /** Whether it is to pause now because nobody asks: it does so once. */
  takePause(): boolean {
    const { autoPauseS } = this.#options;
    if (autoPauseS === 0 || this.#hasPaused || this.#idleMs() < autoPauseS * 1000) return false;
    this.#hasPaused = true;
    return true;
  }

  #idleMs(): number {
    return (this.#finishedMs() ?? this.#clock.now()) - this.#askedMs;
  }
}

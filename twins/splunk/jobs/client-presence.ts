/** When a client last asked about a search: `auto_cancel` and `auto_pause` act on a search without questions. */
import type { Clock } from "@offhook/platform/base/clock";
import type { JobOptions } from "./job-options.ts";

export class ClientPresence {
  readonly #clock: Clock;
  readonly #options: Pick<JobOptions, "autoCancelS" | "autoPauseS">;
  readonly #finishedMs: () => number | undefined;
  /** Time of the last question, on the sandbox's clock. */
  #askedMs: number;
  #hasPaused = false;

  /** @param finishedMs end of the search; idle time stops counting there */
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

  /** Records a question about the search. */
  touch(): void {
    this.#askedMs = Math.max(this.#askedMs, this.#clock.now());
  }

  /** Whether the running search had no question for `auto_cancel` seconds. */
  get isAbandoned(): boolean {
    const { autoCancelS } = this.#options;
    return autoCancelS > 0 && this.#idleMs() >= autoCancelS * 1000;
  }

  /** Whether the search has to pause now because of `auto_pause`; true once. */
  pauseOnce(): boolean {
    const { autoPauseS } = this.#options;
    if (autoPauseS === 0 || this.#hasPaused || this.#idleMs() < autoPauseS * 1000) return false;
    this.#hasPaused = true;
    return true;
  }

  #idleMs(): number {
    return (this.#finishedMs() ?? this.#clock.now()) - this.#askedMs;
  }
}

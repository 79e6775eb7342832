/** When a part that ended by itself is started again: later each time, and not for ever. */
const DELAYS_MS = [250, 1_000, 2_000, 5_000, 10_000];
/** A part that ran for so long had started well: what ended it is no longer what ended it before. */
const STEADY_MS = 60_000;

export class BackOff {
  #failures = 0;

  /**
   * @param servedMs how long the part served before it ended
   * @returns how long to wait; `undefined`: do not start it again
   */
  next(servedMs: number): number | undefined {
    if (servedMs >= STEADY_MS) this.reset();
    return DELAYS_MS[this.#failures++];
  }

  /** Its files have changed: it is another program. */
  reset(): void {
    this.#failures = 0;
  }
}

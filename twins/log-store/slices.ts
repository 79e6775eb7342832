/** Long work on the event loop, cut into slices: whoever waits has a turn between two of them. */
import { setImmediate } from "node:timers/promises";

const SLICE_MS = 8;

export class Slices {
  #endsAt = performance.now() + SLICE_MS;

  /** Whether it is time for the others. */
  get over(): boolean {
    return performance.now() >= this.#endsAt;
  }

  /** Lets the others have their turn. */
  async next(): Promise<void> {
    await setImmediate();
    this.#endsAt = performance.now() + SLICE_MS;
  }
}

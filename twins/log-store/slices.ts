/** Cuts long work on the event loop into slices, so that other work runs in between. */
import { setImmediate } from "node:timers/promises";

const SLICE_MS = 8;

export class Slices {
  #endsAt = performance.now() + SLICE_MS;

  /** Whether the slice is used up. */
  get over(): boolean {
    return performance.now() >= this.#endsAt;
  }

  /** Yields to the event loop, and begins the next slice. */
  async next(): Promise<void> {
    await setImmediate();
    this.#endsAt = performance.now() + SLICE_MS;
  }
}

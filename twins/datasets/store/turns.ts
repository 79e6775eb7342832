/** Work that is done one after the other, in the order it was asked for. */
import { QueueFull } from "./log-store.ts";

const MAX_WAITING = 1000;

export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** @throws QueueFull */
  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#waiting >= MAX_WAITING) throw new QueueFull(this.#waiting);
    this.#waiting++;
    const before = this.#last;
    const turn = before.then(() => {
      this.#waiting--;
      return work();
    });
    this.#last = turn.catch(() => {});
    return turn;
  }
}

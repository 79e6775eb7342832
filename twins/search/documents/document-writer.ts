/**
 * Writes documents as the vendor does: one action after the other, each with its own outcome. Writes of one sandbox never run
 * at the same time, so that what a condition saw is still so when the write happens.
 */
import type { LogStore } from "../../datasets/store/log-store.ts";
import { VendorError } from "../vendor-error.ts";
import type { Action, Outcome } from "./action.ts";
import { Writing } from "./writing.ts";

/** Requests that may wait for their turn to write. */
const MAX_WAITING = 200;

export class DocumentWriter {
  readonly #store: () => Promise<LogStore>;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(store: () => Promise<LogStore>) {
    this.#store = store;
  }

  /** Carries the actions out in their order; the outcomes are in the same order. @throws VendorError 429 */
  async perform(actions: readonly Action[]): Promise<Outcome[]> {
    if (this.#waiting >= MAX_WAITING) {
      throw new VendorError(429, {
        type: "es_rejected_execution_exception",
        reason: `rejected execution of primary operation [queue capacity = ${MAX_WAITING}]`,
      });
    }
    this.#waiting++;
    const turn = this.#last.then(async () => new Writing(await this.#store(), actions).run());
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#waiting--;
    }
  }
}

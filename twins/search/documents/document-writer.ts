/**
 * Writes documents as the vendor does: one action after the other, each with its own outcome. Nobody else writes meanwhile, so
 * that what a condition saw is still so when the write happens.
 */
import type { LogStore } from "../../datasets/store/log-store.ts";
import type { Action, Outcome } from "./action.ts";
import { Writing } from "./writing.ts";

export class DocumentWriter {
  readonly #store: () => Promise<LogStore>;

  constructor(store: () => Promise<LogStore>) {
    this.#store = store;
  }

  /** Carries the actions out in their order; the outcomes are in the same order. @throws QueueFull */
  async perform(actions: readonly Action[]): Promise<Outcome[]> {
    if (actions.length === 0) return [];
    const store = await this.#store();
    return store.exclusively((writer) => new Writing(writer, actions).run());
  }
}

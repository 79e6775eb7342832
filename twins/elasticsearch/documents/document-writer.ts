/**
 * Writes documents as the vendor does: one action after the other, each with its own outcome. Nobody else writes meanwhile, so
 * that what a condition saw is still so when the write happens.
 */
import { BatchWriter } from "@offhook/log-store/store/batch-writer";
import type { LogReader, LogStore } from "@offhook/log-store/store/log-store";
import type { Action, Outcome } from "./action.ts";
import { type IndexRules, Writing } from "./writing.ts";

export class DocumentWriter {
  readonly #store: () => Promise<LogStore>;
  readonly #rules: IndexRules;
  readonly #batches = new BatchWriter<Action, Outcome>(
    (writer, actions) => new Writing(writer, actions, this.#rules).run(),
    (action) => ("source" in action ? action.source.length : 0),
  );

  constructor(store: () => Promise<LogStore>, rules: IndexRules) {
    this.#store = store;
    this.#rules = rules;
  }

  /** Carries the actions out in their order; the outcomes are in the same order. @throws QueueFull */
  async perform(actions: readonly Action[]): Promise<Outcome[]> {
    if (actions.length === 0) return [];
    return this.#batches.write(await this.#store(), actions);
  }

  /** Carries out what `find` sees that there is to do; nobody writes between the two. @throws QueueFull */
  async performFound(find: (reader: LogReader) => Promise<readonly Action[]>): Promise<Outcome[]> {
    const store = await this.#store();
    return store.exclusively(async (writer) => new Writing(writer, await find(writer), this.#rules).run());
  }
}

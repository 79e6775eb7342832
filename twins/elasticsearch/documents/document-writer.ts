/**
 * Writes documents as the vendor does: actions run in order, each with its own outcome. A run has the store for itself, so that a
 * precondition still holds when its write happens.
 */
import { BatchWriter } from "@offhook/log-store/store/batch-writer";
import type { LogReader, LogStore } from "@offhook/log-store/store/log-store";
import type { Action, Outcome } from "./action.ts";
import { ActionRun, type IndexRules } from "./action-run.ts";

export class DocumentWriter {
  readonly #store: () => Promise<LogStore>;
  readonly #rules: IndexRules;
  readonly #batches = new BatchWriter<Action, Outcome>(
    (writer, actions) => new ActionRun(writer, actions, this.#rules).run(),
    (action) => ("source" in action ? action.source.length : 0),
  );

  constructor(store: () => Promise<LogStore>, rules: IndexRules) {
    this.#store = store;
    this.#rules = rules;
  }

  /** Runs actions in order. @returns their outcomes, in the same order @throws QueueFull */
  async perform(actions: readonly Action[]): Promise<Outcome[]> {
    if (actions.length === 0) return [];
    return this.#batches.write(await this.#store(), actions);
  }

  /** Runs the actions that `find` derives from the documents, with no other write in between. @throws QueueFull */
  async performQueried(find: (reader: LogReader) => Promise<readonly Action[]>): Promise<Outcome[]> {
    const store = await this.#store();
    return store.exclusively(async (writer) => new ActionRun(writer, await find(writer), this.#rules).run());
  }
}

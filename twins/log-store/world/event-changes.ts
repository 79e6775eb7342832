/** What becomes of a store's changes in its world: told row by row, traced, and compared with the baseline. */
import { Listeners } from "@offhook/platform/base/listeners";
import { WrittenRows } from "@offhook/platform/world/difference";
import { boundWrite, EVERY_TABLE } from "@offhook/platform/world/traced-change";
import type {
  DeferredRow,
  DifferenceCounts,
  TracedChange,
  TraceListener,
  WorldChange,
  WorldDifference,
} from "@offhook/platform/world/world";
import type { StoreChange, StoredDocument } from "../store/log-store.ts";
import { rowOf } from "./event-row.ts";

export const EVENTS = "events";
export const FIELDS = "fields";
export const INDICES = "indices";

/** Written events that are compared one by one with the baseline, and the text written to them. */
const MAX_COMPARED = 1000;
const MAX_COMPARED_BYTES = 16 * 1024 * 1024;

export class EventChanges {
  readonly #listeners = new Listeners<WorldChange>();
  readonly #tracers = new Listeners<TracedChange>();
  readonly #written = new WrittenEvents();

  watch(listener: (change: WorldChange) => void): () => void {
    return this.#listeners.add(listener);
  }

  trace(listener: TraceListener): () => void {
    return this.#tracers.add(listener);
  }

  setBaseline(): void {
    this.#written.clear();
  }

  difference(): WorldDifference {
    return this.#written.difference();
  }

  announce(change: StoreChange): void {
    this.#written.note(change);
    if (this.#tracers.size > 0) {
      for (const traced of tracedChanges(change)) {
        this.#tracers.tell({ stateVersion: change.stateVersion, ...traced });
      }
    }
    if (this.#listeners.size === 0) return;
    for (const worldChange of worldChanges(change)) this.#listeners.tell(worldChange);
  }
}

/** The events written since the baseline: each of them, or, when they are many, how often events were written. */
class WrittenEvents {
  readonly #rows = new WrittenRows();
  #counts = noWrites();
  #bytes = 0;
  #comparing = true;

  clear(): void {
    this.#rows.clear();
    this.#counts = noWrites();
    this.#bytes = 0;
    this.#comparing = true;
  }

  note(change: StoreChange): void {
    if (change.change === "reset") this.clear();
    else if (change.change === "write") {
      for (const { document, replaced } of change.documents) {
        this.#counts[replaced ? "changed" : "added"]++;
        this.#noteRow(document, replaced, document);
      }
    } else if (change.change === "remove") {
      this.#counts.removed += change.documents.length;
      for (const document of change.documents) this.#noteRow(document, document, undefined);
    }
  }

  difference(): WorldDifference {
    if (this.#comparing) return { rows: this.#rows.differences(() => ["_id"]), uncompared: {} };
    return { rows: [], uncompared: { [EVENTS]: { ...this.#counts } } };
  }

  #noteRow(
    { id, index, source }: StoredDocument,
    before: StoredDocument | undefined,
    after: StoredDocument | undefined,
  ): void {
    if (!this.#comparing) return;
    this.#bytes += source.length;
    const place = JSON.stringify([index, id]);
    this.#rows.note(EVENTS, place, before && deferRow(before), after && deferRow(after));
    if (this.#rows.size <= MAX_COMPARED && this.#bytes <= MAX_COMPARED_BYTES) return;
    this.#comparing = false;
    this.#rows.clear();
  }
}

function noWrites(): DifferenceCounts {
  return { added: 0, changed: 0, removed: 0 };
}

/** As `worldChanges`, but bounded, and with rows that are parsed only when somebody looks at them. */
function tracedChanges(change: StoreChange): Iterable<Omit<TracedChange, "stateVersion">> {
  switch (change.change) {
    case "write":
      return boundWrite(
        change.documents,
        ({ document, replaced }) => ({
          table: EVENTS,
          change: replaced ? "update" : "insert",
          key: { _id: document.id },
          row: deferRow(document),
          before: replaced && deferRow(replaced),
        }),
        ({ replaced }) => ({ table: EVENTS, change: replaced ? "update" : "insert" }),
      );
    case "remove":
      return boundWrite(
        change.documents,
        (document) => ({
          table: EVENTS,
          change: "remove",
          key: { _id: document.id },
          row: deferRow(document),
        }),
        () => ({ table: EVENTS, change: "remove" }),
      );
    case "index":
      return [{ table: INDICES, change: "reset" }];
    case "reset":
      return [{ table: EVERY_TABLE, change: "reset" }];
  }
}

function deferRow(document: StoredDocument): DeferredRow {
  return { bytes: document.source.length, read: () => rowOf(document) };
}

function worldChanges(change: StoreChange): WorldChange[] {
  const { stateVersion } = change;
  switch (change.change) {
    case "write":
      return change.documents.map(({ document, replaced }) => ({
        stateVersion,
        table: EVENTS,
        change: replaced ? "update" : "insert",
        row: rowOf(document),
      }));
    case "remove":
      return change.documents.map((document) => ({
        stateVersion,
        table: EVENTS,
        change: "remove",
        row: rowOf(document),
      }));
    case "index":
      return [{ stateVersion, table: INDICES, change: "reset" }];
    case "reset":
      return [EVENTS, FIELDS].map((table) => ({ stateVersion, table, change: "reset" }));
  }
}

/** What becomes of the writes of a world in memory: told row by row, traced, and compared with the baseline. */
import { Listeners } from "../base/listeners.ts";
import { WrittenRows } from "./difference.ts";
import { identityOf, keyOf, type TableType } from "./table.ts";
import { boundWrite, EVERY_TABLE } from "./traced-change.ts";
import type { Row, TracedChange, TraceListener, WorldChange, WorldDifference } from "./world.ts";

/** A row that a write has changed, as it is now; a removed one as it was. */
export interface RowWrite {
  type: TableType;
  change: "insert" | "update" | "remove";
  row: Readonly<Row>;
  before?: Readonly<Row> | undefined;
}

export class TableChanges {
  readonly #listeners = new Listeners<WorldChange>();
  readonly #tracers = new Listeners<TracedChange>();
  readonly #written = new WrittenRows();
  readonly #unannounced: WorldChange[] = [];
  #announcing = false;
  #stateVersion = 0;

  get stateVersion(): number {
    return this.#stateVersion;
  }

  watch(listener: (change: WorldChange) => void): () => void {
    return this.#listeners.add(listener);
  }

  trace(listener: TraceListener): () => void {
    return this.#tracers.add(listener);
  }

  setBaseline(): void {
    this.#written.clear();
  }

  /** @param keyColumns of a table */
  difference(keyColumns: (table: string) => readonly string[]): WorldDifference {
    return { rows: this.#written.differences(keyColumns), uncompared: {} };
  }

  /** Commits a write of rows. */
  commit(writes: readonly RowWrite[]): void {
    if (writes.length === 0) return;
    for (const write of writes) this.#note(write);
    this.#stateVersion++;
    if (this.#tracers.size > 0) this.#trace(boundWrite(writes, traceWrite, kindOf));
    this.#announce(() => writes.map(({ type, change, row }) => ({ table: type.name, change, row })));
  }

  /** Commits a load of all tables, which is the new baseline. */
  commitLoad(tables: readonly string[]): void {
    this.#written.clear();
    this.#stateVersion++;
    this.#trace([{ table: EVERY_TABLE, change: "reset" }]);
    this.#announce(() => tables.map((table) => ({ table, change: "reset" })));
  }

  #note({ type, change, row, before }: RowWrite): void {
    const id = keyOf(type, row);
    if (change === "remove") this.#written.note(type.name, id, row, undefined);
    else {
      // A row whose key was changed is another row: the old one is among the removals.
      const isSame = before !== undefined && identityOf(type, before) === id;
      this.#written.note(type.name, id, isSame ? before : undefined, row);
    }
  }

  #trace(changes: Iterable<Omit<TracedChange, "stateVersion">>): void {
    for (const change of changes) {
      this.#tracers.tell({ stateVersion: this.#stateVersion, ...change });
    }
  }

  /** Announces changes in order, even when a listener writes. */
  #announce(changes: () => Omit<WorldChange, "stateVersion">[]): void {
    if (this.#listeners.size === 0) return;
    const stateVersion = this.#stateVersion;
    for (const change of changes()) this.#unannounced.push({ stateVersion, ...change });
    if (this.#announcing) return;
    this.#announcing = true;
    try {
      for (let change = this.#unannounced.shift(); change; change = this.#unannounced.shift()) {
        this.#listeners.tell(change);
      }
    } finally {
      this.#announcing = false;
    }
  }
}

function traceWrite({ type, change, row, before }: RowWrite): Omit<TracedChange, "stateVersion"> {
  return { table: type.name, change, key: keyColumnsOf(type, row), row, before };
}

function kindOf({ type, change }: RowWrite) {
  return { table: type.name, change };
}

function keyColumnsOf({ keyColumns }: TableType, row: Readonly<Row>): Row {
  return Object.fromEntries(keyColumns.map((column) => [column, row[column]]));
}

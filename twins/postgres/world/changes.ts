/** Converts notices of the database to changes of the world. */
import type { Row, WorldChange } from "@offhook/platform/world/world";
import { valueType, worldName } from "./catalogue.ts";
import { everyTable, type Notice, type RowsChanged } from "./change-feed.ts";
import { decodeValue } from "./values.ts";

export interface Change extends Omit<WorldChange, "stateVersion"> {
  /** The columns of the primary key. */
  key?: Row;
  /** Of a change without row: how many rows it is about. */
  rows?: number;
}

/** Commands that change which tables or rows the world has. */
const tableCommands = [
  "CREATE TABLE",
  "CREATE TABLE AS",
  "SELECT INTO",
  "ALTER TABLE",
  "DROP TABLE",
  "DROP SCHEMA",
];

/** One change per row. A truncation has no row, nor has the last change of a notice that shows only some of its rows. */
export function changesOf(notice: Notice): Change[] {
  switch (notice.change) {
    case "definition":
      return tableCommands.includes(notice.command) ? [{ table: everyTable, change: "reset" }] : [];
    case "load":
      return notice.tables.map((table) => ({ table, change: "reset" }));
    case "truncate":
      return [{ table: worldName(notice.schema, notice.table), change: "remove" }];
    default:
      return rowChanges(notice);
  }
}

function rowChanges(notice: RowsChanged): Change[] {
  const table = worldName(notice.schema, notice.table);
  const change = notice.change === "delete" ? "remove" : notice.change;
  const columns = notice.columns.map(({ name, type, elementType, delimiter }) => ({
    name,
    value: valueType(type, elementType, delimiter),
  }));
  const keys = notice.columns.filter(({ key }) => key).map(({ name }) => name);
  const changes: Change[] = notice.rows.map((texts) => {
    const row: Row = Object.fromEntries(
      columns.map(({ name, value }, i) => [name, decodeValue(value, texts[i] ?? null)]),
    );
    if (keys.length === 0) return { table, change, row };
    return { table, change, row, key: Object.fromEntries(keys.map((name) => [name, row[name]])) };
  });
  const others = notice.total - notice.rows.length;
  return others > 0 ? [...changes, { table, change, rows: others }] : changes;
}

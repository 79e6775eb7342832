/** Changes as a log that is always on keeps them: bounded in number and made without reading or parsing anything. */
import type { DeferredRow, Row, TracedChange } from "./world.ts";

/** Rows that are traced of one write; the others are counted. */
export const MAX_TRACED_ROWS = 100;

/** Stands for all tables. */
export const EVERY_TABLE = "*";

export function isDeferred(row: Readonly<Row> | DeferredRow): row is DeferredRow {
  return "read" in row && typeof row.read === "function";
}

/** A write as its first changes, and one without a row for the others of each kind. */
export function* boundWrite<Change>(
  changes: readonly Change[],
  trace: (change: Change) => Omit<TracedChange, "stateVersion">,
  kindOf: (change: Change) => Pick<TracedChange, "table" | "change" | "rows">,
): IterableIterator<Omit<TracedChange, "stateVersion">> {
  let traced = 0;
  for (const change of changes) {
    if (traced++ === MAX_TRACED_ROWS) break;
    yield trace(change);
  }
  if (changes.length <= MAX_TRACED_ROWS) return;
  const others = new Map<string, Pick<TracedChange, "table" | "change"> & { rows: number }>();
  for (let index = MAX_TRACED_ROWS; index < changes.length; index++) {
    const change = changes[index];
    if (change === undefined) continue;
    const kind = kindOf(change);
    const name = `${kind.change} ${kind.table}`;
    const counted = others.get(name) ?? { ...kind, rows: 0 };
    counted.rows += kind.rows ?? 1;
    others.set(name, counted);
  }
  yield* others.values();
}

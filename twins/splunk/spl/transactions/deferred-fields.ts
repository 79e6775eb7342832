/** Late materialization: merges event fields only for the transactions that are shown. */
import { prunableColumns } from "@offhook/log-store/column-pruning";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { type DeferredColumns, ROW, unusedName } from "../relation/deferred-columns.ts";
import type { Typed } from "../relation/typed.ts";
import { time } from "./keyed-rows.ts";
import { rank } from "./segments.ts";

/** Column of a transaction that holds a value of `Marks.groups`: joins it to its events. */
export const groupColumn = (index: number): Sql => identifier(`#part${index}`);

/** Columns with a transaction's own figures, which need no fields of its events. */
const summaryNames = ["#oldest", "#newest", "#events", "#matches", "#closed"];

/** The hidden columns that transactions carry along. */
export function hiddenColumns(groups: number): { column: string; value: Sql }[] {
  const values = [
    ...summaryNames.map(identifier),
    ...Array.from({ length: groups }, (_, index) => groupColumn(index)),
  ];
  // The number of any of its events identifies a transaction.
  const first = { column: ROW, value: raw('"#first event"') };
  return [first, ...values.map((value, index) => ({ column: carriedName(index), value }))];
}

const carriedName = (index: number): string => `#passthrough${index + 1}`;

interface Members {
  /** Deferred columns of the events. */
  deferred: DeferredColumns;
  /** Each event's number, its carried columns, and its transaction. */
  marked: Sql;
  groups: readonly Sql[];
}

/**
 * @param found SELECT of the hidden columns of transactions
 * @param values aggregates over the events' fields
 * @param columns of the transactions, over `#value0`, … and `summaryNames`
 */
export function deferredFields(
  found: Sql,
  { deferred, marked, groups }: Members,
  values: readonly Typed[],
  columns: readonly { column: string; value: Sql }[],
): Sql {
  const row = identifier(ROW);
  const members = unusedName("#members", found);
  const own = deferred.passthrough.map((column) => sql`m.${identifier(column)}`);
  const same = groups.map(
    (group, index) => sql`m.${group} = f.${identifier(carriedName(summaryNames.length + index))}`,
  );
  const chosen = sql`SELECT ${joined([...own, sql`m.${time}`, sql`m.${rank}`, sql`f.${row} AS "#transaction of"`], ", ")}
    FROM (${marked}) AS m JOIN (${found}) AS f ON ${joined(same, " AND ")}`;
  const passthrough = deferred.passthrough.map(identifier);
  const events = deferred.select(sql`SELECT ${joined(passthrough, ", ")} FROM ${members}`);
  const aggregates = values.map(({ sql: value }, index) => ({ column: `#value${index}`, value }));
  const grouped = sql`SELECT ${prunableColumns(aggregates, [sql`"#transaction of"`])}
    FROM (SELECT e.*, m.${time}, m.${rank}, m."#transaction of" FROM (${events}) AS e JOIN ${members} AS m ON e.${row} = m.${row}) AS e
    GROUP BY "#transaction of"`;
  const known = summaryNames.map(
    (name, index) => sql`f.${identifier(carriedName(index))} AS ${identifier(name)}`,
  );
  const whole = sql`SELECT g.*, ${joined([...known, sql`f.${row}`], ", ")} FROM (${grouped}) AS g JOIN (${found}) AS f ON g."#transaction of" = f.${row}`;
  return sql`WITH ${members} AS MATERIALIZED (${chosen}) SELECT ${prunableColumns(columns, [row])} FROM (${whole}) AS r`;
}

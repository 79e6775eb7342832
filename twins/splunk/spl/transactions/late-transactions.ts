/** The fields of few transactions, made of their own events alone. */
import { columnsIfRead } from "@offhook/log-store/needed-columns";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { type DeferredColumns, ROW, unusedName } from "../relation/deferred-columns.ts";
import type { Typed } from "../relation/typed.ts";
import { time } from "./keyed-rows.ts";
import { rank } from "./segments.ts";

/** What a transaction is found by again: columns of the same names as in `Marks.groups`. */
export const groupName = (index: number): Sql => identifier(`#part${index}`);

/** What says of a transaction all that its events' fields do not. */
const figures = ["#oldest", "#newest", "#events", "#matches", "#closed"];

/** The columns that go with transactions, under names that only they have. */
export function hiddenColumns(groups: number): { column: string; value: Sql }[] {
  const values = [
    ...figures.map(identifier),
    ...Array.from({ length: groups }, (_, index) => groupName(index)),
  ];
  // Any event of a transaction tells it from all others.
  const first = { column: ROW, value: raw('"#first event"') };
  return [first, ...values.map((value, index) => ({ column: carriedName(index), value }))];
}

const carriedName = (index: number): string => `#carried${index + 1}`;

interface Members {
  /** How the columns of the events are made. */
  deferred: DeferredColumns;
  /** Each event's number, what is carried with it, and the transaction that it is in. */
  marked: Sql;
  groups: readonly Sql[];
}

/**
 * @param found the hidden columns of transactions
 * @param values the aggregates of the events' fields
 * @param columns of the transactions, over `#value0`, … and the figures
 */
export function lateTransactions(
  found: Sql,
  { deferred, marked, groups }: Members,
  values: readonly Typed[],
  columns: readonly { column: string; value: Sql }[],
): Sql {
  const row = identifier(ROW);
  const members = unusedName("#members", found);
  const own = deferred.passthrough.map((column) => sql`m.${identifier(column)}`);
  const same = groups.map(
    (group, index) => sql`m.${group} = f.${identifier(carriedName(figures.length + index))}`,
  );
  const chosen = sql`SELECT ${joined([...own, sql`m.${time}`, sql`m.${rank}`, sql`f.${row} AS "#transaction of"`], ", ")}
    FROM (${marked}) AS m JOIN (${found}) AS f ON ${joined(same, " AND ")}`;
  const passthrough = deferred.passthrough.map(identifier);
  const events = deferred.select(sql`SELECT ${joined(passthrough, ", ")} FROM ${members}`);
  const aggregates = values.map(({ sql: value }, index) => ({ column: `#value${index}`, value }));
  const grouped = sql`SELECT ${columnsIfRead(aggregates, [sql`"#transaction of"`])}
    FROM (SELECT e.*, m.${time}, m.${rank}, m."#transaction of" FROM (${events}) AS e JOIN ${members} AS m ON e.${row} = m.${row}) AS e
    GROUP BY "#transaction of"`;
  const known = figures.map((name, index) => sql`f.${identifier(carriedName(index))} AS ${identifier(name)}`);
  const whole = sql`SELECT g.*, ${joined([...known, sql`f.${row}`], ", ")} FROM (${grouped}) AS g JOIN (${found}) AS f ON g."#transaction of" = f.${row}`;
  return sql`WITH ${members} AS MATERIALIZED (${chosen}) SELECT ${columnsIfRead(columns, [row])} FROM (${whole}) AS r`;
}

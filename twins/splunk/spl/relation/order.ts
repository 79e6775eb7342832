/** Rows by their order: the first of them, another order, their numbers. */
import { columnsIfRead } from "@offhook/log-store/needed-columns";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { carriedItems, lateOf, sameColumns, wholeRows } from "./deferred-columns.ts";
import { type OrderKey, orderClause } from "./order-keys.ts";
import type { Relation } from "./relation.ts";

/** The first rows, in order. */
export function limited(input: Relation, limit: number, offset = 0): Relation {
  const clause = sql`LIMIT CAST(${limit} AS BIGINT) OFFSET CAST(${offset} AS BIGINT)`;
  const first = amongFirst(input, limit + offset);
  const select = sql`SELECT * FROM (${first.select}) AS r ${orderClause(input.order)} ${clause}`;
  return {
    ...first,
    ...sameColumns(lateOf(first), select),
    atMost: Math.min(limit, input.atMost ?? limit),
    cut: { of: select, order: input.order, from: first.select, limit, offset },
    select,
  };
}

/** The first rows, in order, as a statement has them at its end: what is cut already is put in order once. */
export function firstRows(relation: Relation, items: Sql, most: number): Sql {
  const { select, order, atMost, cut } = amongFirst(relation, most);
  // One row is in order as it is.
  if (atMost !== undefined && atMost <= Math.min(1, most)) return sql`SELECT ${items} FROM (${select}) AS r`;
  const isCut = cut?.of === select && cut.order === order;
  const { from, limit, offset } = isCut ? cut : { from: select, limit: most, offset: 0 };
  const page = sql`LIMIT CAST(${Math.min(limit, most)} AS BIGINT)`;
  const behind = offset === 0 ? raw("") : sql`OFFSET CAST(${offset} AS BIGINT)`;
  return sql`SELECT ${items} FROM (${from}) AS r ${orderClause(order)} ${page} ${behind}`;
}

/** As many rows can be sorted whole, or stand in a window whole. */
const SORTED_WHOLE = 100_000;

/**
 * Whether rows are too many and too large to be sorted, or put into a window, with all their fields: then it is done with the keys
 * alone, and the rows are looked up by them (`rowsOf`).
 * @param most rows that are few
 */
export function isLarge({ ofEvents, order, atMost, select }: Relation, most = SORTED_WHOLE): boolean {
  if (ofEvents === undefined || order.length === 0 || (atMost ?? Infinity) <= most) return false;
  // A row that is another each time it is looked at cannot be found again.
  return !select.texts.some((text) => text.includes("random()"));
}

/** Fewer rows, of which the first so many are the same. */
export function amongFirst(input: Relation, count: number): Relation {
  if (input.first?.of === input.select) return input.first.rows(count);
  if (!isLarge(input)) return input;
  const keys = input.order.map(({ column }) => identifier(column));
  const which = sql`${orderClause(input.order)} LIMIT CAST(${count} AS BIGINT)`;
  const late = lateOf(input);
  if (late !== undefined) {
    const select = wholeRows(late, keys, which);
    return { ...input, select, ...sameColumns(late, select) };
  }
  const first = sql`SELECT ${joined(keys, ", ")} FROM (${input.select}) AS r ${which}`;
  return rowsOf(input, first);
}

/** The rows whose order keys a SELECT gives. */
export function rowsOf(input: Relation, keys: Sql): Relation {
  const last = input.order.length - 1;
  // The last key is that of the store: no event is without it, and by `=` DuckDB looks at a part of the events alone.
  const same = input.order.map(({ column }, index) => {
    const operator = raw(index === last ? "=" : "IS NOT DISTINCT FROM");
    return sql`r.${identifier(column)} ${operator} k.${identifier(column)}`;
  });
  return {
    ...input,
    select: sql`SELECT r.* FROM (${input.select}) AS r SEMI JOIN (${keys}) AS k ON ${joined(same, " AND ")}`,
  };
}

/** In another order; what came before decides between equals. Keys read the row. */
export function reordered(
  input: Relation,
  keys: readonly { value: Sql; direction: OrderKey["direction"] }[],
): Relation {
  const order = [
    ...keys.map(({ direction }): Omit<OrderKey, "column"> => ({ direction })),
    ...input.order.map(({ column: _, ...manner }) => manner),
  ].map((manner, index): OrderKey => ({ ...manner, column: `#order${index}` }));
  const values = [...keys.map(({ value }) => value), ...input.order.map(({ column }) => identifier(column))];
  const late = lateOf(input);
  const items = input.columns.map(({ column }) => ({ column, value: identifier(column) }));
  const places = values.map((value, index) => sql`${value} AS ${identifier(`#order${index}`)}`);
  const select = sql`SELECT ${columnsIfRead([...items, ...carriedItems(late)], places)} FROM (${input.select}) AS r`;
  return { ...input, order, select, ...sameColumns(late, select) };
}

/** The same rows from the last to the first. */
export function backwards(input: Relation): Relation {
  const order = input.order.map(({ nulls, direction, ...key }): OrderKey => {
    const opposite = direction === "ASC" ? "DESC" : "ASC";
    return nulls === "first"
      ? { ...key, direction: opposite }
      : { ...key, direction: opposite, nulls: "first" };
  });
  return { ...input, order };
}

/** The same rows, each with its number from 1 as the only order key (`#order0`). */
export function numbered(input: Relation): Relation {
  const number = sql`row_number() OVER (${orderClause(input.order)})`;
  return {
    ...reordered({ ...input, order: input.order }, [{ value: number, direction: "ASC" }]),
    order: [{ column: "#order0", direction: "ASC" }],
  };
}

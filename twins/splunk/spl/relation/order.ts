/** Rows by their order: the first of them, another order, their numbers. */
import { columnsIfRead } from "@offhook/log-store/needed-columns";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { deferredOf, fetchRows, keepDeferred, passthroughItems } from "./deferred-columns.ts";
import { type OrderKey, orderByClause } from "./order-keys.ts";
import type { Relation } from "./relation.ts";

/** The first rows, in order. */
export function limit(input: Relation, limit: number, offset = 0): Relation {
  const clause = sql`LIMIT CAST(${limit} AS BIGINT) OFFSET CAST(${offset} AS BIGINT)`;
  const first = topN(input, limit + offset);
  const select = sql`SELECT * FROM (${first.select}) AS r ${orderByClause(input.order)} ${clause}`;
  return {
    ...first,
    ...keepDeferred(deferredOf(first), select),
    maxRows: Math.min(limit, input.maxRows ?? limit),
    limitOf: { of: select, order: input.order, from: first.select, limit, offset },
    select,
  };
}

/** The first rows, in order, as a statement has them at its end: what is cut already is put in order once. */
export function selectFirst(relation: Relation, items: Sql, most: number): Sql {
  const { select, order, maxRows, limitOf } = topN(relation, most);
  // One row is in order as it is.
  if (maxRows !== undefined && maxRows <= Math.min(1, most))
    return sql`SELECT ${items} FROM (${select}) AS r`;
  const isLimited = limitOf?.of === select && limitOf.order === order;
  const { from, limit, offset } = isLimited ? limitOf : { from: select, limit: most, offset: 0 };
  const page = sql`LIMIT CAST(${Math.min(limit, most)} AS BIGINT)`;
  const behind = offset === 0 ? raw("") : sql`OFFSET CAST(${offset} AS BIGINT)`;
  return sql`SELECT ${items} FROM (${from}) AS r ${orderByClause(order)} ${page} ${behind}`;
}

/** As many rows can be sorted whole, or stand in a window whole. */
const MAX_WHOLE_ROW_SORT = 100_000;

/**
 * Whether rows are too many and too large to be sorted, or put into a window, with all their fields: then it is done with the keys
 * alone, and the rows are looked up by them (`rowsOf`).
 * @param most rows that are few
 */
export function isLarge({ ofEvents, order, maxRows, select }: Relation, most = MAX_WHOLE_ROW_SORT): boolean {
  if (ofEvents === undefined || order.length === 0 || (maxRows ?? Infinity) <= most) return false;
  // A row that is another each time it is looked at cannot be found again.
  return !select.texts.some((text) => text.includes("random()"));
}

/** Fewer rows, of which the first so many are the same. */
export function topN(input: Relation, count: number): Relation {
  if (input.topN?.of === input.select) return input.topN.rows(count);
  if (!isLarge(input)) return input;
  const keys = input.order.map(({ column }) => identifier(column));
  const which = sql`${orderByClause(input.order)} LIMIT CAST(${count} AS BIGINT)`;
  const deferred = deferredOf(input);
  if (deferred !== undefined) {
    const select = fetchRows(deferred, keys, which);
    return { ...input, select, ...keepDeferred(deferred, select) };
  }
  const first = sql`SELECT ${joined(keys, ", ")} FROM (${input.select}) AS r ${which}`;
  return rowsWithKeys(input, first);
}

/** The rows whose order keys a SELECT gives. */
export function rowsWithKeys(input: Relation, keys: Sql): Relation {
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
export function orderBy(
  input: Relation,
  keys: readonly { value: Sql; direction: OrderKey["direction"] }[],
): Relation {
  const order = [
    ...keys.map(({ direction }): Omit<OrderKey, "column"> => ({ direction })),
    ...input.order.map(({ column: _, ...manner }) => manner),
  ].map((manner, index): OrderKey => ({ ...manner, column: `#order${index}` }));
  const values = [...keys.map(({ value }) => value), ...input.order.map(({ column }) => identifier(column))];
  const deferred = deferredOf(input);
  const items = input.columns.map(({ column }) => ({ column, value: identifier(column) }));
  const places = values.map((value, index) => sql`${value} AS ${identifier(`#order${index}`)}`);
  const select = sql`SELECT ${columnsIfRead([...items, ...passthroughItems(deferred)], places)} FROM (${input.select}) AS r`;
  return { ...input, order, select, ...keepDeferred(deferred, select) };
}

/** The same rows from the last to the first. */
export function reverse(input: Relation): Relation {
  const order = input.order.map(({ nulls, direction, ...key }): OrderKey => {
    const opposite = direction === "ASC" ? "DESC" : "ASC";
    return nulls === "first"
      ? { ...key, direction: opposite }
      : { ...key, direction: opposite, nulls: "first" };
  });
  return { ...input, order };
}

/** The same rows, each with its number from 1 as the only order key (`#order0`). */
export function withRowNumber(input: Relation): Relation {
  const number = sql`row_number() OVER (${orderByClause(input.order)})`;
  return {
    ...orderBy({ ...input, order: input.order }, [{ value: number, direction: "ASC" }]),
    order: [{ column: "#order0", direction: "ASC" }],
  };
}

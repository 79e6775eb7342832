/** LIMIT, ORDER BY and row numbers of relations. */
import { prunableColumns } from "@offhook/log-store/column-pruning";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { deferredOf, fetchRows, keepDeferred, passthroughItems } from "./deferred-columns.ts";
import { type OrderKey, orderByClause } from "./order-keys.ts";
import type { Relation } from "./relation.ts";

/** Takes the first rows, in order. */
export function limit(input: Relation, count: number, offset = 0): Relation {
  const clause = sql`LIMIT CAST(${count} AS BIGINT) OFFSET CAST(${offset} AS BIGINT)`;
  const first = topN(input, count + offset);
  const select = sql`SELECT * FROM (${first.select}) AS r ${orderByClause(input.order)} ${clause}`;
  return {
    ...first,
    ...keepDeferred(deferredOf(first), select),
    maxRows: Math.min(count, input.maxRows ?? count),
    limitOf: { of: select, order: input.order, from: first.select, limit: count, offset },
    select,
  };
}

/** The statement that gives the first rows, in order. A relation that `limit` has made is sorted once, not twice. */
export function selectFirst(relation: Relation, items: Sql, max: number): Sql {
  const { select, order, maxRows, limitOf } = topN(relation, max);
  // A single row needs no sort.
  if (maxRows !== undefined && maxRows <= Math.min(1, max)) return sql`SELECT ${items} FROM (${select}) AS r`;
  const isLimited = limitOf?.of === select && limitOf.order === order;
  const { from, limit, offset } = isLimited ? limitOf : { from: select, limit: max, offset: 0 };
  const page = sql`LIMIT CAST(${Math.min(limit, max)} AS BIGINT)`;
  const skip = offset === 0 ? raw("") : sql`OFFSET CAST(${offset} AS BIGINT)`;
  return sql`SELECT ${items} FROM (${from}) AS r ${orderByClause(order)} ${page} ${skip}`;
}

/** Most rows that are sorted or windowed with all their columns. */
const MAX_WHOLE_ROW_SORT = 100_000;

/**
 * Whether rows are too many and too large to be sorted or windowed with all their fields. Then that is done with the keys alone,
 * and the rows are looked up by them (`rowsWithKeys`).
 * @param max most rows that are not large
 */
export function isLarge({ ofEvents, order, maxRows, select }: Relation, max = MAX_WHOLE_ROW_SORT): boolean {
  if (ofEvents === undefined || order.length === 0 || (maxRows ?? Infinity) <= max) return false;
  // A row with random values differs each time it is read, so its keys would not find it again.
  return !select.texts.some((text) => text.includes("random()"));
}

/** Narrows a relation to fewer rows whose first `count`, in order, are the same. */
function topN(input: Relation, count: number): Relation {
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

/** The rows whose order keys a SELECT gives: a semi-join. */
export function rowsWithKeys(input: Relation, keys: Sql): Relation {
  const last = input.order.length - 1;
  // The last key is the event's number in the store, never NULL. With `=`, DuckDB reads only the row groups in its range.
  const same = input.order.map(({ column }, index) => {
    const operator = raw(index === last ? "=" : "IS NOT DISTINCT FROM");
    return sql`r.${identifier(column)} ${operator} k.${identifier(column)}`;
  });
  return {
    ...input,
    select: sql`SELECT r.* FROM (${input.select}) AS r SEMI JOIN (${keys}) AS k ON ${joined(same, " AND ")}`,
  };
}

/** Sorts stably: rows with equal keys keep their order. @param keys as SQL over the row */
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
  const select = sql`SELECT ${prunableColumns([...items, ...passthroughItems(deferred)], places)} FROM (${input.select}) AS r`;
  return { ...input, order, select, ...keepDeferred(deferred, select) };
}

/** Reverses the order. */
export function reverse(input: Relation): Relation {
  const order = input.order.map(({ nulls, direction, ...key }): OrderKey => {
    const opposite = direction === "ASC" ? "DESC" : "ASC";
    return nulls === "first"
      ? { ...key, direction: opposite }
      : { ...key, direction: opposite, nulls: "first" };
  });
  return { ...input, order };
}

/** Numbers the rows from 1. The number becomes the only order key, `#order0`. */
export function withRowNumber(input: Relation): Relation {
  const number = sql`row_number() OVER (${orderByClause(input.order)})`;
  return {
    ...orderBy({ ...input, order: input.order }, [{ value: number, direction: "ASC" }]),
    order: [{ column: "#order0", direction: "ASC" }],
  };
}

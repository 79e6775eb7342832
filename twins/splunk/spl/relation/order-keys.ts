/** Order keys of relations as SQL. */
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";

export interface OrderKey {
  /** A hidden column of `select`: `#order0`, … */
  readonly column: string;
  readonly direction: "ASC" | "DESC";
  /** Position of rows without a value; last when absent. */
  readonly nulls?: "first";
  /** The key is unique and never NULL: the number of an event in the store. */
  readonly unique?: true;
}

/** `#order0 ASC NULLS LAST, …`, for ORDER BY and for windows. `undefined` without keys. */
export function orderTerms(order: readonly OrderKey[]): Sql | undefined {
  if (order.length === 0) return undefined;
  return joined(
    order.map(
      ({ column, direction, nulls }) =>
        sql`${identifier(column)} ${raw(direction)} NULLS ${raw(nulls === "first" ? "FIRST" : "LAST")}`,
    ),
    ", ",
  );
}

/** `ORDER BY …`, or nothing. */
export function orderByClause(order: readonly OrderKey[]): Sql {
  const keys = orderTerms(order);
  return keys === undefined ? raw("") : sql`ORDER BY ${keys}`;
}

/** One value that sorts as all keys together, never NULL. `undefined` without keys. */
export function orderValue(order: readonly OrderKey[]): Sql | undefined {
  return order.length === 0
    ? undefined
    : sortValue(order.map((key) => ({ ...key, value: identifier(key.column) })));
}

/** One value that sorts as several values together, never NULL. */
export function sortValue(keys: readonly (Omit<OrderKey, "column"> & { value: Sql })[]): Sql {
  const parts = keys.map(({ value, direction, nulls }) => {
    const manner = `'${direction} NULLS ${nulls === "first" ? "FIRST" : "LAST"}'`;
    return sql`${value}, ${raw(manner)}`;
  });
  return sql`create_sort_key(${joined(parts, ", ")})`;
}

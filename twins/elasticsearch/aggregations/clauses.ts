/** SQL clauses of the statement of aggregations. */
import type { FieldCatalog } from "@offhook/log-store/fields";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { getOrAdd } from "@offhook/platform/base/get-or-add";
import type { Aggregations, BucketsAggregation, KeyColumn } from "./aggregation.ts";

/** The `FILTER` of an aggregate. */
export function filterClause(condition: Sql | undefined): Sql {
  return condition ? sql` FILTER (WHERE ${condition})` : raw("");
}

/** Joins two optional conditions. */
export function andBoth(a: Sql | undefined, b: Sql | undefined): Sql | undefined {
  return a && b ? sql`${a} AND ${b}` : (a ?? b);
}

/** Whether all sub-aggregations can be columns of the enclosing grouping. */
export function columnsOnly({ children }: BucketsAggregation): boolean {
  return children.aggregations.every((child) => {
    if (child.kind === "metric") return true;
    if (child.kind === "single") return child.children.aggregations.every((one) => one.kind === "metric");
    return false;
  });
}

/** The keys that become buckets even without documents, as `k`; `undefined`: only keys of the parent's documents do. */
export function everyKey(aggregation: BucketsAggregation, key: KeyColumn, k: Sql): Sql | undefined {
  const { conditions, selection, children } = aggregation;
  // An empty bucket matters only when a sub-aggregation lists keys of other documents in it.
  if (conditions && listsEveryKey(children)) {
    return sql`SELECT unnest(range(${raw(String(conditions.length))})) AS ${k}`;
  }
  if (selection.kind !== "top" || !selection.everyKey) return undefined;
  const value = key.list ? sql`unnest(${key.value})` : key.value;
  const wanted = wantedKeys(aggregation, raw("e.k"));
  // As in the vendor, the keys of all documents, regardless of the query.
  return sql`SELECT DISTINCT e.k AS ${k} FROM (SELECT ${value} AS k FROM documents AS d) AS e
    WHERE e.k IS NOT NULL AND ${wanted ?? raw("TRUE")}`;
}

/** Whether any of them has buckets even inside an empty bucket. */
function listsEveryKey({ aggregations }: Aggregations): boolean {
  return aggregations.some((one) => {
    if (one.kind === "single") return listsEveryKey(one.children);
    if (one.kind !== "buckets") return false;
    if (one.selection.kind === "top" && one.selection.everyKey) return true;
    return one.conditions !== undefined && listsEveryKey(one.children);
  });
}

/** A condition for keys that can become buckets; `undefined`: all can. */
export function wantedKeys({ selection }: BucketsAggregation, value: Sql): Sql | undefined {
  return selection.kind === "top" ? selection.wanted?.(value) : undefined;
}

/** A prefix that no column of the documents has. */
export function freePrefix(fields: FieldCatalog): string {
  let prefix = "agg_";
  while (fields.all().some(({ column }) => column.toLowerCase().startsWith(prefix))) prefix = `_${prefix}`;
  return prefix;
}

/**
 * Evaluates the queries of filters as columns of the documents. The statement repeats a bucket's condition for each metric; as a
 * column it is evaluated once.
 */
export class FilterColumns {
  readonly #prefix: string;
  readonly #columns = new Map<string, { readonly name: Sql; readonly condition: Sql }>();

  constructor(fields: FieldCatalog) {
    this.#prefix = freePrefix(fields);
  }

  /** The column, over the rows `d`, for a condition over `documents AS d`. Equal conditions share a column. */
  columnOf(condition: Sql): Sql {
    const values = condition.values.map((value) => [typeof value, String(value)]);
    const { name } = getOrAdd(this.#columns, JSON.stringify([condition.texts, values]), () => ({
      name: identifier(`${this.#prefix}q${this.#columns.size}`),
      condition,
    }));
    return sql`d.${name}`;
  }

  get isEmpty(): boolean {
    return this.#columns.size === 0;
  }

  /** @param others further columns @param predicate over `documents AS d` */
  select(others: Sql, predicate: Sql): Sql {
    const columns = [...this.#columns.values()].map(({ name, condition }) => sql`(${condition}) AS ${name}`);
    return sql`SELECT ${joined([others, ...columns], ", ")} FROM documents AS d WHERE ${predicate}`;
  }
}

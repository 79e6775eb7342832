/** Pieces of the statement of aggregations. */
import type { FieldCatalog } from "@offhook/log-store/fields";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { getOrAdd } from "@offhook/platform/base/get-or-add";
import type { Aggregations, BucketsAggregation, KeyColumn } from "./aggregation.ts";

/** What follows an aggregate of the documents that fit. */
export function filtered(condition: Sql | undefined): Sql {
  return condition ? sql` FILTER (WHERE ${condition})` : raw("");
}

/** Both conditions, where there are two. */
export function both(a: Sql | undefined, b: Sql | undefined): Sql | undefined {
  return a && b ? sql`${a} AND ${b}` : (a ?? b);
}

/** Whether everything in the buckets can be columns of the grouping around them. */
export function columnsOnly({ children }: BucketsAggregation): boolean {
  return children.aggregations.every((child) => {
    if (child.kind === "metric") return true;
    if (child.kind === "single") return child.children.aggregations.every((one) => one.kind === "metric");
    return false;
  });
}

/** The keys that are a bucket even without documents, as `k`; `undefined`: those of the parent's documents alone. */
export function everyKey(aggregation: BucketsAggregation, key: KeyColumn, k: Sql): Sql | undefined {
  const { conditions, selection, children } = aggregation;
  // Only what lists keys of other documents tells an empty bucket from none.
  if (conditions && listsEveryKey(children)) {
    return sql`SELECT unnest(range(${raw(String(conditions.length))})) AS ${k}`;
  }
  if (selection.kind !== "top" || !selection.everyKey) return undefined;
  const value = key.list ? sql`unnest(${key.value})` : key.value;
  const wanted = wantedKeys(aggregation, raw("e.k"));
  // As the vendor counts them: the keys of all documents, whatever the query says.
  return sql`SELECT DISTINCT e.k AS ${k} FROM (SELECT ${value} AS k FROM documents AS d) AS e
    WHERE e.k IS NOT NULL AND ${wanted ?? raw("TRUE")}`;
}

/** Whether one of them has buckets in a bucket without documents. */
function listsEveryKey({ aggregations }: Aggregations): boolean {
  return aggregations.some((one) => {
    if (one.kind === "single") return listsEveryKey(one.children);
    if (one.kind !== "buckets") return false;
    if (one.selection.kind === "top" && one.selection.everyKey) return true;
    return one.conditions !== undefined && listsEveryKey(one.children);
  });
}

/** Which keys can be a bucket; `undefined`: all. */
export function wantedKeys({ selection }: BucketsAggregation, value: Sql): Sql | undefined {
  return selection.kind === "top" ? selection.wanted?.(value) : undefined;
}

/** What no column of the documents begins with. */
export function freePrefix(fields: FieldCatalog): string {
  let prefix = "agg_";
  while (fields.all().some(({ column }) => column.toLowerCase().startsWith(prefix))) prefix = `_${prefix}`;
  return prefix;
}

/**
 * The queries of filters as columns of the documents. A statement names the condition of a bucket once for each metric, and again
 * for the bucket of all others; as a column it is searched for once.
 */
export class FilterColumns {
  readonly #prefix: string;
  readonly #columns = new Map<string, { readonly name: Sql; readonly condition: Sql }>();

  constructor(fields: FieldCatalog) {
    this.#prefix = freePrefix(fields);
  }

  /** Returns the column, over the rows `d`, of a condition over `documents AS d`. Equal conditions share a column. */
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

  /** @param others the columns beside those of the filters. @param predicate over `documents AS d` */
  select(others: Sql, predicate: Sql): Sql {
    const columns = [...this.#columns.values()].map(({ name, condition }) => sql`(${condition}) AS ${name}`);
    return sql`SELECT ${joined([others, ...columns], ", ")} FROM documents AS d WHERE ${predicate}`;
  }
}

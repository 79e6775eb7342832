/** Statistics of the fields of a search's events. */
import { pruneColumns } from "@offhook/log-store/column-pruning";
import { identifier, joined, type Sql, sql } from "@offhook/log-store/sql";
import type { LogReader, QueryOptions } from "@offhook/log-store/store/log-store";
import { type Column, fieldValue, filter, type Relation } from "../spl/relation/relation.ts";
import { textOf } from "../spl/relation/typed.ts";

export interface FieldSummary {
  readonly name: string;
  readonly count: number;
  readonly numericCount: number;
  readonly distinctCount: number;
  /** Statistics of the numeric values; absent without any. */
  readonly numbers: { min: number; max: number; mean: number; stdev: number } | undefined;
  readonly modes: readonly { value: string; count: number }[];
}

/** Maximum of fields in one summary: each costs two statements. */
const MAX_FIELDS = 200;

/** @param topCount number of most frequent values to report for each field */
export async function summarise(
  store: LogReader,
  events: Relation,
  columns: readonly Column[],
  topCount: number,
  options: QueryOptions,
): Promise<FieldSummary[]> {
  const summaries: FieldSummary[] = [];
  for (const column of columns.slice(0, MAX_FIELDS)) {
    const values = pruneColumns(valuesOf(events, column));
    const figures = await store.query(
      sql`SELECT count(v), count(n), count(DISTINCT v), min(n), max(n), avg(n), coalesce(stddev_samp(n), 0)
        FROM (SELECT v, TRY_CAST(v AS DOUBLE) AS n FROM (${values}))`,
      options,
    );
    const [count = 0, numeric = 0, distinct = 0, min, max, mean, stdev] = (figures.rows[0] ?? []).map(Number);
    if (count === 0) continue;
    const top = await store.query(
      sql`SELECT v, count(*) AS c FROM (${values}) WHERE v IS NOT NULL GROUP BY v ORDER BY c DESC, v LIMIT CAST(${topCount} AS BIGINT)`,
      options,
    );
    summaries.push({
      name: column.name,
      count,
      numericCount: numeric,
      distinctCount: distinct,
      numbers:
        numeric === 0 ? undefined : { min: min ?? 0, max: max ?? 0, mean: mean ?? 0, stdev: stdev ?? 0 },
      modes: top.rows.map(([value, times]) => ({ value: String(value), count: Number(times) })),
    });
  }
  return summaries;
}

/** Limits events to those with a value that contains the text, ignoring case. */
export function filterByText(events: Relation, text: string): Relation {
  const wanted = text.toLowerCase();
  const holds = events.columns.map((column) => {
    const value = fieldValue(column);
    const one = column.multi ? sql`array_to_string(${value.sql}, chr(10))` : textOf(value);
    return sql`contains(lower(${one}), ${wanted})`;
  });
  const predicate = holds.map((hold) => sql`coalesce(${hold}, FALSE)`);
  return predicate.length === 0 ? events : filter(events, joined(predicate, " OR "));
}

/** Selects each value of a field as text, one a row. */
function valuesOf({ select }: Relation, column: Column): Sql {
  if (!column.multi) return sql`SELECT ${textOf(fieldValue(column))} AS v FROM (${select}) AS r`;
  const one = textOf({ type: column.type, multi: false, sql: identifier("u") });
  return sql`SELECT ${one} AS v FROM (SELECT unnest(${identifier(column.column)}) AS u FROM (${select}) AS r)`;
}

/** When rows are: their `_time`. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { numberOf } from "../relation/typed.ts";
import type { Aggregation } from "./aggregation.ts";
import type { SiteOptions } from "./site.ts";
import { sparklineParts } from "./sparkline-parts.ts";

/** Seconds since the epoch, DOUBLE; NULL for rows without. */
export function rowTime(input: Relation): Sql {
  const column = columnOf(input, "_time");
  if (column === undefined) return raw("CAST(NULL AS DOUBLE)");
  return column.type === "number" && !column.multi
    ? fieldValue(column).sql
    : sql`CAST(${numberOf(fieldValue(column))} AS DOUBLE)`;
}

/** Seconds of the search's range, when it has both ends. */
export function rangeSeconds(input: Relation, context: SearchContext): Sql | undefined {
  const { earliestMs, latestMs } = input.range ?? context.range;
  if (earliestMs === undefined || latestMs === undefined) return undefined;
  return sql`CAST(${(latestMs - earliestMs) / 1000} AS DOUBLE)`;
}

/** What aggregates of these rows need. */
export async function siteOptions(
  input: Relation,
  context: SearchContext,
  aggregations: readonly Aggregation[],
  onlyNumbers = false,
): Promise<SiteOptions> {
  const time = rowTime(input);
  const sparkline = await sparklineParts(aggregations, input, context);
  return { input, time, seconds: rangeSeconds(input, context), sparkline, onlyNumbers };
}

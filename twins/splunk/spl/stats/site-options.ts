/** Options of the site of aggregates: the rows' times, their span in seconds, and the parts of sparklines. */
import { type Sql, sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import type { Relation } from "../relation/relation.ts";
import { SplError } from "../spl-error.ts";
import { zoneOf } from "../time/zone-of.ts";
import type { Aggregation } from "./aggregation.ts";
import { timeExtent } from "./bin-options.ts";
import { rowTime } from "./row-time.ts";
import type { SiteOptions, SparklineParts } from "./site.ts";
import { parseTimeSpan } from "./span.ts";
import { approximateSeconds, automaticSpan, timeBuckets } from "./time-buckets.ts";

/** `limits.conf`: `sparkline_maxsize`. */
const MAX_PARTS = 100;

/** Options of a site over these rows. @param onlyNumbers `allnum=t` */
export async function siteOptions(
  input: Relation,
  context: SearchContext,
  aggregations: readonly Aggregation[],
  { onlyNumbers = false }: { onlyNumbers?: boolean } = {},
): Promise<SiteOptions> {
  const time = rowTime(input);
  const sparkline = await sparklineParts(aggregations, input, context);
  return { input, time, seconds: rangeSeconds(input, context), sparkline, onlyNumbers };
}

/** Length of the search's time range in seconds; `undefined` when an end is open. */
function rangeSeconds(input: Relation, context: SearchContext): Sql | undefined {
  const { earliestMs, latestMs } = input.range ?? context.range;
  if (earliestMs === undefined || latestMs === undefined) return undefined;
  return sql`CAST(${(latestMs - earliestMs) / 1000} AS DOUBLE)`;
}

/** `undefined` when no aggregate is a sparkline. */
async function sparklineParts(
  aggregations: readonly Aggregation[],
  input: Relation,
  context: SearchContext,
): Promise<SparklineParts | undefined> {
  const isNeeded = aggregations.some((one) => one.kind === "measure" && one.call.name === "sparkline");
  if (!isNeeded) return undefined;
  const extent = (await timeExtent(input, context)) ?? { least: 0, greatest: 0 };
  const zone = zoneOf(context.timeZone);
  const parts = (given: string | undefined) => {
    const span =
      given === undefined ? automaticSpan(extent.greatest - extent.least, MAX_PARTS) : parseTimeSpan(given);
    if (span === undefined) throw new SplError(`Invalid span '${given ?? ""}' of a sparkline.`, "run");
    const buckets = timeBuckets(span, zone);
    const from = buckets.start(extent.least);
    const size = approximateSeconds(span);
    // A time range excludes its end; with an open end, the extent ends at the last row and includes it.
    const isOpen = (input.range ?? context.range).latestMs === undefined;
    const count = (extent.greatest - from) / size;
    return {
      from,
      size,
      count: Math.min(MAX_PARTS, isOpen ? Math.floor(count) + 1 : Math.max(1, Math.ceil(count))),
    };
  };
  return {
    part(span) {
      const { from, size } = parts(span);
      return sql`CAST(floor((${rowTime(input)} - CAST(${from} AS DOUBLE)) / CAST(${size} AS DOUBLE)) AS BIGINT)`;
    },
    count: (span) => parts(span).count,
  };
}

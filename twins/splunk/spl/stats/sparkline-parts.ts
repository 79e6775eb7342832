/** The parts of the search's time that `sparkline` shows. */
import { sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import type { Relation } from "../relation/relation.ts";
import { SplError } from "../spl-error.ts";
import { zoneOf } from "../time/zone-of.ts";
import type { Aggregation } from "./aggregation.ts";
import { timeExtent } from "./bin-options.ts";
import { rowTime } from "./row-time.ts";
import type { SparklineParts } from "./site.ts";
import { parseTimeSpan } from "./span.ts";
import { approximateSeconds, automaticSpan, timeBuckets } from "./time-buckets.ts";

/** `limits.conf`: `sparkline_maxsize`. */
const MAX_PARTS = 100;

/** `undefined` when no aggregate is a sparkline. */
export async function sparklineParts(
  aggregations: readonly Aggregation[],
  input: Relation,
  context: SearchContext,
): Promise<SparklineParts | undefined> {
  const wanted = aggregations.some((one) => one.kind === "measure" && one.call.name === "sparkline");
  if (!wanted) return undefined;
  const extent = (await timeExtent(input, context)) ?? { least: 0, greatest: 0 };
  const zone = zoneOf(context.timeZone);
  const parts = (given: string | undefined) => {
    const span =
      given === undefined ? automaticSpan(extent.greatest - extent.least, MAX_PARTS) : parseTimeSpan(given);
    if (span === undefined) throw new SplError(`Invalid span '${given ?? ""}' of a sparkline.`, "run");
    const buckets = timeBuckets(span, zone);
    const from = buckets.start(extent.least);
    const size = approximateSeconds(span);
    // The latest moment of a range is not in it; that of the rows is.
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

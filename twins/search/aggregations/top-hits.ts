/** top_hits: the best documents of a bucket. */
import { numberIn, textOf } from "../json/token.ts";
import type { HitsAggregation } from "./aggregation.ts";
import type { AggregationContext } from "./context.ts";
import { argumentError } from "./errors.ts";
import type { Naming } from "./metrics.ts";
import type { JsonRecord } from "./options.ts";

/** The most documents of one bucket. */
const MAX_HITS = 100;

export function topHits(naming: Naming, json: JsonRecord, context: AggregationContext): HitsAggregation {
  const { from: fromOption, size: sizeOption, ...others } = json;
  const from = readCount("from", fromOption, 0);
  const size = readCount("size", sizeOption, 3);
  if (from + size > MAX_HITS) {
    throw argumentError(
      `Top hits result window is too large, the top hits aggregator [${naming.name}]'s from + size must be less than or equal to: [${MAX_HITS}] but was [${from + size}]. This limit can be set by changing the [index.max_inner_result_window] index level setting.`,
    );
  }
  return { kind: "hits", ...naming, from, size, plan: context.planHits(others) };
}

function readCount(name: string, value: unknown, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  const count = numberIn(value);
  if (Number.isInteger(count) && count >= 0) return count;
  throw argumentError(`[${name}] parameter cannot be negative but was [${textOf(value)}]`);
}

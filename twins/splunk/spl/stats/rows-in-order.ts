/** Aggregates that look at the order of rows. */
import type { Aggregation } from "./aggregation.ts";

const ordered = new Set([
  ...["first", "last", "earliest", "latest", "list"],
  ...["rate", "rate_avg", "rate_sum"],
]);

/** Whether rows need a number for one of them. */
export function needOrder(aggregations: readonly Aggregation[]): boolean {
  return aggregations.some((one) => one.kind === "computed" || ordered.has(one.call.name));
}

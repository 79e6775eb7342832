/** What a table shows where there are no rows. */
import type { Aggregation } from "./aggregation.ts";

const counts = new Set(["count", "c", "dc", "distinct_count", "estdc"]);

/** Counts are 0; all else is missing. */
export function emptyCell(aggregation: Aggregation | undefined): 0 | null {
  return aggregation?.kind === "measure" && counts.has(aggregation.call.name) ? 0 : null;
}

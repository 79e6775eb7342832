/** Hits collapsed to the best one of each value of a field. */
import { illegal } from "../api/parameters.ts";
import type { JsonObject } from "../json/read.ts";

export interface Collapse {
  field: string;
}

/** @throws VendorError */
export function readCollapse(json: JsonObject): Collapse {
  const { field, inner_hits, ...rest } = json;
  if (typeof field !== "string") throw illegal("Required [field]");
  if (inner_hits !== undefined) {
    throw illegal("This twin collapses to one hit of each value: [inner_hits] is not supported");
  }
  for (const name of Object.keys(rest)) {
    if (name !== "max_concurrent_group_searches") throw illegal(`[collapse] unknown field [${name}]`);
  }
  return { field };
}

/** Hits collapsed to the best one of each value of a field. */
import { illegal } from "../api/parameters.ts";
import type { JsonObject } from "../json/read.ts";

export interface Collapse {
  field: string;
  /** Searches for the other hits of each value, by name. */
  innerHits: { name: string; body: JsonObject }[];
}

/** @throws VendorError */
export function readCollapse(json: JsonObject): Collapse {
  const { field, inner_hits, ...rest } = json;
  if (typeof field !== "string") throw illegal("Required [field]");
  for (const name of Object.keys(rest)) {
    if (name !== "max_concurrent_group_searches") throw illegal(`[collapse] unknown field [${name}]`);
  }
  const listed = inner_hits === undefined ? [] : Array.isArray(inner_hits) ? inner_hits : [inner_hits];
  return {
    field,
    innerHits: listed.map((item) => {
      if (typeof item !== "object" || item === null || Array.isArray(item)) {
        throw illegal("[inner_hits] must be an object");
      }
      const { name, ignore_unmapped: _, ...body } = item;
      return { name: typeof name === "string" ? name : field, body: { size: 3, ...body } };
    }),
  };
}

/** The event fields that a search shows: `adhoc_search_level`. */

import { outputsOf, project, type Relation } from "../spl/relation/relation.ts";
import { matchingNames } from "../spl/relation/wildcards.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import { shapesRows } from "./column-order.ts";
import type { JobOptions } from "./job-options.ts";

/** Fields of every event, which a search shows without naming them. */
const standing: ReadonlySet<string> = new Set([
  ...["_cd", "_indextime", "_raw", "_sourcetype", "_subsecond", "_time", "host", "index", "linecount"],
  ...["source", "sourcetype", "splunk_server"],
]);

/**
 * Drops the fields that a `fast` search does not ask for. Any occurrence of a field's name in the search keeps the field: one
 * too many is harmless, one too few would be missed.
 * @param found the events as the first command found them
 */
export function applySearchLevel(
  result: Relation,
  found: Relation | undefined,
  pipeline: Pick<Pipeline, "commands" | "text">,
  { level, requiredFields }: JobOptions,
): Relation {
  if (level !== "fast" || found === undefined || result.kind !== "events" || shapesRows(pipeline))
    return result;
  const discovered = new Set(found.columns.map(({ name }) => name));
  const words = pipeline.text.split(/[\s,()|"=]+/).filter((word) => word.length > 1 && word.includes("*"));
  const named = new Set(matchingNames(result, [...requiredFields, ...words]));
  const isAsked = (name: string) => named.has(name) || pipeline.text.includes(name);
  const kept = outputsOf(result).filter(
    ({ name }) => standing.has(name) || !discovered.has(name) || isAsked(name),
  );
  return kept.length === result.columns.length ? result : project(result, kept);
}

/** Which of the events' fields a search shows: `adhoc_search_level`. */

import { outputsOf, project, type Relation } from "../spl/relation/relation.ts";
import { matchingNames } from "../spl/relation/wildcards.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import { shapesRows } from "./column-order.ts";
import type { JobOptions } from "./job-options.ts";

/** Every event has them, and no search has to name them. */
const standing: ReadonlySet<string> = new Set([
  ...["_cd", "_indextime", "_raw", "_sourcetype", "_subsecond", "_time", "host", "index", "linecount"],
  ...["source", "sourcetype", "splunk_server"],
]);

/**
 * Events without the fields that nobody has asked for, when the search is a fast one. A field is kept when its name stands
 * anywhere in the search: one too many does no harm, one too few would be missed.
 * @param found the events as the first command has found them
 */
export function withLevel(
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

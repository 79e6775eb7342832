/** A saved search as a part of another. */

import type { SearchContext } from "../context/search-context.ts";
import type { Relation } from "../relation/relation.ts";
import { commandError, SplError } from "../spl-error.ts";
import { withImplicitSearch } from "../syntax/text.ts";
import { InvalidTime, resolveTime } from "../time/resolve-time.ts";
import type { TimeRange } from "../time/time-range.ts";

/**
 * The rows of a saved search. It has the range of the search it is part of; where that has none, its own.
 * @param command that asks for it
 * @param replaced its text with what stands between dollar signs replaced
 * @throws SplError of phase `run` when there is none, or it is part of itself
 */
export async function savedSearchRelation(
  command: string,
  name: string,
  context: SearchContext,
  replaced: (search: string) => string = (search) => search,
): Promise<Relation> {
  const saved = context.knowledge.savedSearch(name);
  if (saved === undefined) {
    throw commandError(command, `Unable to find saved search named '${name}'.`, "run");
  }
  if (context.savedSearches.includes(name)) {
    throw commandError(command, `The saved search '${name}' is part of itself.`, "run");
  }
  const { earliestMs, latestMs } = context.range;
  const open = earliestMs === undefined && latestMs === undefined;
  const range = open
    ? { earliestMs: moment(saved.earliest, context), latestMs: moment(saved.latest, context) }
    : context.range;
  const inner = context.within(range satisfies TimeRange, name);
  return inner.subrelation(inner.parse(withImplicitSearch(replaced(saved.search))));
}

function moment(text: string | undefined, { nowMs, timeZone }: SearchContext): number | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  try {
    return resolveTime(text, { nowMs, timeZone });
  } catch (error) {
    throw error instanceof InvalidTime ? new SplError(error.message, "run") : error;
  }
}

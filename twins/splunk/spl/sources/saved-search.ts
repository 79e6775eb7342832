/** Saved searches as part of another search. */

import type { SearchContext } from "../context/search-context.ts";
import type { Relation } from "../relation/relation.ts";
import { commandError, SplError } from "../spl-error.ts";
import { withImplicitSearch } from "../syntax/text.ts";
import { InvalidTime, resolveTime } from "../time/resolve-time.ts";
import type { TimeRange } from "../time/time-range.ts";

/**
 * The rows of a saved search, in the time range of the search around it; if that is open, in its own.
 * @param command for error messages
 * @param substitute replaces the `$placeholders$` of its text
 * @throws SplError of phase `run` when there is none, or it contains itself
 */
export async function savedSearchRelation(
  command: string,
  name: string,
  context: SearchContext,
  substitute: (search: string) => string = (search) => search,
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
    ? { earliestMs: timeMs(saved.earliest, context), latestMs: timeMs(saved.latest, context) }
    : context.range;
  const inner = context.within(range satisfies TimeRange, name);
  return inner.subrelation(inner.parse(withImplicitSearch(substitute(saved.search))));
}

function timeMs(text: string | undefined, { nowMs, timeZone }: SearchContext): number | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  try {
    return resolveTime(text, { nowMs, timeZone });
  } catch (error) {
    throw error instanceof InvalidTime ? new SplError(error.message, "run") : error;
  }
}

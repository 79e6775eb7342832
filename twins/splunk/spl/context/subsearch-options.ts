/** Options of commands that take the rows of a subsearch. */

import type { ArgumentReader } from "../syntax/argument-reader.ts";
import type { Subsearch } from "../syntax/ast.ts";
import { boolean, count } from "../syntax/option-types.ts";
import type { SearchLimits, SubsearchBounds } from "./search-context.ts";

/** Times are in seconds. */
export const subsearchOptionTypes = {
  extendtimerange: boolean,
  maxtime: count,
  maxout: count,
  timeout: count,
};

export interface SubsearchOptions {
  extendtimerange?: boolean;
  maxtime?: number;
  maxout?: number;
  timeout?: number;
}

/** The bounds that the options set. `maxtime` ends the subsearch and `timeout` the wait for it: here both end it. */
export function boundsOf(
  { maxtime, timeout, maxout }: SubsearchOptions,
  limits: SearchLimits,
): SubsearchBounds {
  const seconds = [maxtime, timeout].filter((given) => given !== undefined && given > 0);
  return {
    maxRows: Math.min(maxout || limits.joinMaxRows, limits.joinMaxRows),
    maxMs: seconds.length === 0 ? 0 : Math.min(...seconds.map((given) => (given ?? 0) * 1000)),
  };
}

/** Reads the subsearch, which has to be next. */
export function readSubsearch(reader: ArgumentReader): Subsearch {
  return reader.subsearch() ?? reader.fail("The last argument must be a subsearch.");
}

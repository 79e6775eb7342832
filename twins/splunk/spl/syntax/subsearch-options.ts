/** The options of commands that take a subsearch's rows. */
import type { SearchLimits, SubsearchBounds } from "../context/search-context.ts";
import type { ArgumentReader } from "./argument-reader.ts";
import type { Subsearch } from "./ast.ts";
import { boolean, count } from "./option-types.ts";

/** Seconds and rows. */
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

/** What the options say; `maxtime` ends the subsearch, `timeout` the waiting for it: here both are one. */
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

/** `[ … ]`, which has to be next. */
export function readSubsearch(reader: ArgumentReader): Subsearch {
  return reader.subsearch() ?? reader.fail("The last argument must be a subsearch.");
}

/**
 * Time modifiers in a search: `earliest=-1h`, `latest=@d`, `starttime=…`, `_index_earliest=…`.
 * Source: https://help.splunk.com/splunk-enterprise/spl-search-reference/9.4/time-format-variables-and-modifiers/time-modifiers
 */

import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { SearchContext } from "../context/search-context.ts";
import { SplError } from "../spl-error.ts";
import type { SearchExpression } from "../syntax/ast.ts";
import { InvalidTime, resolveTime, type TimeOptions } from "../time/resolve-time.ts";
import type { TimeRange } from "../time/time-range.ts";

export type TimeModifier = Extract<SearchExpression, { node: "time" }>;

/** What the modifiers of a search say; what they do not is `undefined`. */
export interface SearchTimes {
  readonly events: TimeRange | undefined;
  readonly indexed: TimeRange | undefined;
}

type Read = (value: string, options: TimeOptions) => number;

const DEFAULT_FORMAT = "%m/%d/%Y:%H:%M:%S";
const moment: Read = resolveTime;
const formatted: Read = (value, options) =>
  resolveTime(value, { ...options, format: options.format ?? DEFAULT_FORMAT });
const epoch: Read = (value) => Number(counted(value)) * 1000;
const ago =
  (unit: string): Read =>
  (value, { format: _, ...options }) =>
    resolveTime(`-${counted(value)}${unit}`, options);

const starts = lookupTable<Read>({
  earliest: moment,
  starttime: formatted,
  starttimeu: epoch,
  startdaysago: ago("d"),
  starthoursago: ago("h"),
  startminutesago: ago("m"),
  startmonthsago: ago("mon"),
});
const ends = lookupTable<Read>({
  latest: moment,
  endtime: formatted,
  endtimeu: epoch,
  enddaysago: ago("d"),
  endhoursago: ago("h"),
  endminutesago: ago("m"),
  endmonthsago: ago("mon"),
});
const spansMs = lookupTable<number>({
  searchtimespandays: 86_400_000,
  searchtimespanhours: 3_600_000,
  searchtimespanminutes: 60_000,
});

/** Of several modifiers of the same kind, the last counts. @throws SplError */
export function timesOf(
  modifiers: readonly TimeModifier[],
  { nowMs, timeZone }: Pick<SearchContext, "nowMs" | "timeZone">,
): SearchTimes {
  const format = modifiers.findLast(({ modifier }) => modifier === "timeformat")?.value;
  const options = { nowMs, timeZone, ...(format === undefined ? {} : { format }) };
  const last = (reads: Record<string, Read>): number | undefined => {
    const said = modifiers.findLast(({ modifier }) => Object.hasOwn(reads, modifier));
    const read = said === undefined ? undefined : reads[said.modifier];
    return said === undefined || read === undefined ? undefined : valueOfTerm(said, read, options);
  };
  const spanned = last(
    Object.fromEntries(
      Object.entries(spansMs).map(
        ([name, ms]) => [name, (value: string) => Number(counted(value)) * ms] as const,
      ),
    ),
  );
  return {
    events: rangeOf(last(starts), last(ends), spanned, nowMs),
    indexed: indexRange(last({ _index_earliest: moment }), last({ _index_latest: moment })),
  };
}

/** A range that says its start alone ends now; one that says its end alone has no start. @throws SplError of phase `run` */
function rangeOf(
  earliestMs: number | undefined,
  latestMs: number | undefined,
  spanMs: number | undefined,
  nowMs: number,
): TimeRange | undefined {
  if (earliestMs !== undefined) {
    if (latestMs !== undefined && earliestMs > latestMs) throw inverted(earliestMs, latestMs);
    const endMs = spanMs === undefined ? nowMs : earliestMs + spanMs;
    // `earliest=0` is all time, which begins with the first event.
    return { earliestMs: earliestMs === 0 ? undefined : earliestMs, latestMs: latestMs ?? endMs };
  }
  if (spanMs !== undefined) {
    const endMs = latestMs ?? nowMs;
    return { earliestMs: endMs - spanMs, latestMs: endMs };
  }
  return latestMs === undefined ? undefined : { earliestMs: undefined, latestMs };
}

function inverted(earliestMs: number, latestMs: number): SplError {
  const [start, end] = [earliestMs, latestMs].map((ms) => Math.floor(ms / 1000));
  return new SplError(
    `Error in 'search' command: Unable to parse the search: Invalid time bounds in search: start=${start} > end=${end}.`,
    "run",
  );
}

function indexRange(earliestMs: number | undefined, latestMs: number | undefined): TimeRange | undefined {
  return earliestMs === undefined && latestMs === undefined ? undefined : { earliestMs, latestMs };
}

function valueOfTerm({ modifier, value }: TimeModifier, read: Read, options: TimeOptions): number {
  try {
    return read(value, options);
  } catch (error) {
    if (!(error instanceof InvalidTime)) throw error;
    const realTime = /^rt/i.test(value.trim()) ? ". Real-time searches are not served here." : "";
    throw new SplError(`Invalid value "${value}" for time term '${modifier}'${realTime}`, "run");
  }
}

/** The text, if it counts something. */
function counted(text: string): string {
  if (!/^\d{1,12}$/.test(text)) throw new InvalidTime(text, "A whole number is expected.");
  return text;
}

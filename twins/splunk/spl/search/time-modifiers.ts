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

/** The time ranges that a search's modifiers set; `undefined` when they set none. */
export interface SearchTimes {
  readonly events: TimeRange | undefined;
  readonly indexed: TimeRange | undefined;
}

type ModifierReader = (value: string, options: TimeOptions) => number;

const DEFAULT_FORMAT = "%m/%d/%Y:%H:%M:%S";
const readTime: ModifierReader = resolveTime;
const readFormatted: ModifierReader = (value, options) =>
  resolveTime(value, { ...options, format: options.format ?? DEFAULT_FORMAT });
const readEpoch: ModifierReader = (value) => Number(requireCount(value)) * 1000;
const readAgo =
  (unit: string): ModifierReader =>
  (value, { format: _, ...options }) =>
    resolveTime(`-${requireCount(value)}${unit}`, options);

const startModifiers = lookupTable<ModifierReader>({
  earliest: readTime,
  starttime: readFormatted,
  starttimeu: readEpoch,
  startdaysago: readAgo("d"),
  starthoursago: readAgo("h"),
  startminutesago: readAgo("m"),
  startmonthsago: readAgo("mon"),
});
const endModifiers = lookupTable<ModifierReader>({
  latest: readTime,
  endtime: readFormatted,
  endtimeu: readEpoch,
  enddaysago: readAgo("d"),
  endhoursago: readAgo("h"),
  endminutesago: readAgo("m"),
  endmonthsago: readAgo("mon"),
});
const spanModifiersMs = lookupTable<number>({
  searchtimespandays: 86_400_000,
  searchtimespanhours: 3_600_000,
  searchtimespanminutes: 60_000,
});

/** Reads time modifiers; of several of one kind, the last counts. @throws SplError */
export function timesOf(
  modifiers: readonly TimeModifier[],
  { nowMs, timeZone }: Pick<SearchContext, "nowMs" | "timeZone">,
): SearchTimes {
  const format = modifiers.findLast(({ modifier }) => modifier === "timeformat")?.value;
  const options = { nowMs, timeZone, ...(format === undefined ? {} : { format }) };
  const last = (reads: Record<string, ModifierReader>): number | undefined => {
    const said = modifiers.findLast(({ modifier }) => Object.hasOwn(reads, modifier));
    const read = said === undefined ? undefined : reads[said.modifier];
    return said === undefined || read === undefined ? undefined : readModifier(said, read, options);
  };
  const spanned = last(
    Object.fromEntries(
      Object.entries(spanModifiersMs).map(
        ([name, ms]) => [name, (value: string) => Number(requireCount(value)) * ms] as const,
      ),
    ),
  );
  return {
    events: rangeOf(last(startModifiers), last(endModifiers), spanned, nowMs),
    indexed: indexRange(last({ _index_earliest: readTime }), last({ _index_latest: readTime })),
  };
}

/** A range without an end ends now; one without a start is open. @throws SplError of phase `run` */
function rangeOf(
  earliestMs: number | undefined,
  latestMs: number | undefined,
  spanMs: number | undefined,
  nowMs: number,
): TimeRange | undefined {
  if (earliestMs !== undefined) {
    if (latestMs !== undefined && earliestMs > latestMs) throw invertedRange(earliestMs, latestMs);
    const endMs = spanMs === undefined ? nowMs : earliestMs + spanMs;
    // `earliest=0` means no lower bound.
    return { earliestMs: earliestMs === 0 ? undefined : earliestMs, latestMs: latestMs ?? endMs };
  }
  if (spanMs !== undefined) {
    const endMs = latestMs ?? nowMs;
    return { earliestMs: endMs - spanMs, latestMs: endMs };
  }
  return latestMs === undefined ? undefined : { earliestMs: undefined, latestMs };
}

function invertedRange(earliestMs: number, latestMs: number): SplError {
  const [start, end] = [earliestMs, latestMs].map((ms) => Math.floor(ms / 1000));
  return new SplError(
    `Error in 'search' command: Unable to parse the search: Invalid time bounds in search: start=${start} > end=${end}.`,
    "run",
  );
}

function indexRange(earliestMs: number | undefined, latestMs: number | undefined): TimeRange | undefined {
  return earliestMs === undefined && latestMs === undefined ? undefined : { earliestMs, latestMs };
}

function readModifier({ modifier, value }: TimeModifier, read: ModifierReader, options: TimeOptions): number {
  try {
    return read(value, options);
  } catch (error) {
    if (!(error instanceof InvalidTime)) throw error;
    const realTime = /^rt/i.test(value.trim()) ? ". Real-time searches are not served here." : "";
    throw new SplError(`Invalid value "${value}" for time term '${modifier}'${realTime}`, "run");
  }
}

/** Requires a whole number. @throws InvalidTime */
function requireCount(text: string): string {
  if (!/^\d{1,12}$/.test(text)) throw new InvalidTime(text, "A whole number is expected.");
  return text;
}

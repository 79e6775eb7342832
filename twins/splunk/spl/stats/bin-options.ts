/** Options of bins that `bin`, `chart` and `timechart` share, and how they apply to a field. */
import { sql } from "@offhook/log-store/sql";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { numberOf, type Typed } from "../relation/typed.ts";
import { commandError } from "../spl-error.ts";
import type { OptionType } from "../syntax/argument-reader.ts";
import { count, number, text } from "../syntax/option-types.ts";
import { InvalidTime, resolveTime } from "../time/resolve-time.ts";
import { zoneOf } from "../time/zone-of.ts";
import { type BinOptions, binNumbers, DEFAULT_BINS, type Extent } from "./number-bins.ts";
import { rowTime } from "./row-time.ts";
import { span, type TimeSpan, timeSpanOf } from "./span.ts";
import { approximateSeconds, automaticSpan, type TimeBuckets, timeBuckets } from "./time-buckets.ts";

/** splunkd words refused values of bin options differently from those of other options. */
const wording: Pick<OptionType<unknown>, "errorMessage"> = {
  errorMessage: (name, text) => `The value for option ${name} (${text}) is invalid.`,
};

/** For `ArgumentReader.options`. */
export const binOptionTypes = {
  bins: count,
  span: { ...span, ...wording },
  minspan: { ...span, ...wording },
  start: number,
  end: number,
  aligntime: text,
};

/** Extent of the numbers in a field; `undefined` when there are none. */
async function extentOf(value: Typed, input: Relation, context: SearchContext): Promise<Extent | undefined> {
  const number =
    value.type === "number" && !value.multi ? sql`CAST(${value.sql} AS DOUBLE)` : numberOf(value);
  const select = sql`SELECT min(${number}) AS least, max(${number}) AS greatest, CAST(coalesce(bool_and(${number} = floor(${number})), FALSE) AS INTEGER) AS whole FROM (${input.select}) AS r`;
  const field = (name: string) => ({ name, column: name, type: "number" as const, multi: false });
  const relation: Relation = {
    select,
    columns: [field("least"), field("greatest"), field("whole")],
    order: [],
    kind: "report",
  };
  const [least = null, greatest = null, whole = null] = (await context.run(relation, 1)).rows[0] ?? [];
  if (least === null || greatest === null) return undefined;
  return { least: Number(least), greatest: Number(greatest), whole: Number(whole) === 1 };
}

/** The search's time range in seconds; an open end is absent. */
export function rangeExtent(input: Relation, { range: requested }: SearchContext): Partial<Extent> {
  const { earliestMs, latestMs } = input.range ?? requested;
  return {
    ...(earliestMs === undefined ? {} : { least: earliestMs / 1000 }),
    ...(latestMs === undefined ? {} : { greatest: latestMs / 1000 }),
  };
}

/** The search's time range in seconds; open ends come from the times of the rows. */
export async function timeExtent(input: Relation, context: SearchContext): Promise<Extent | undefined> {
  const { least, greatest } = rangeExtent(input, context);
  if (least !== undefined && greatest !== undefined) return { least, greatest };
  const found = await rowsExtent(input, context);
  return found && { least: least ?? found.least, greatest: greatest ?? found.greatest };
}

/** Extent of the rows' times, seconds. */
function rowsExtent(input: Relation, context: SearchContext): Promise<Extent | undefined> {
  return extentOf({ type: "number", multi: false, sql: rowTime(input) }, input, context);
}

/** Chooses the buckets of `_time`. @throws SplError */
export async function timeBucketsOf(
  options: BinOptions,
  input: Relation,
  context: SearchContext,
  command: string,
): Promise<TimeBuckets> {
  const given = options.span === undefined || options.span === "auto" ? undefined : timeSpanOf(options.span);
  if (given === undefined && options.span !== undefined && options.span !== "auto") {
    throw commandError(command, "The span of _time has to be one of time.", "run");
  }
  const extent = given === undefined ? await timeExtent(input, context) : undefined;
  const chosen: TimeSpan =
    given ??
    automaticSpan(
      extent === undefined ? 0 : extent.greatest - extent.least,
      options.bins ?? DEFAULT_BINS,
      minSpanSeconds(options),
    );
  const zone = zoneOf(context.timeZone);
  const origin = await originOf(options, input, context, command);
  const needsExtent = zone.fixedOffsetMs === undefined && chosen.unit.kind === "calendar";
  const all = needsExtent ? await rowsExtent(input, context) : undefined;
  return timeBuckets(chosen, zone, { origin, extent: all });
}

/** Puts a field into bins. @returns `undefined` when no row has the field @throws SplError */
export async function binField(
  name: string,
  options: BinOptions,
  input: Relation,
  context: SearchContext,
  command: string,
): Promise<Typed | undefined> {
  const column = columnOf(input, name);
  if (column === undefined) return undefined;
  const value = fieldValue(column);
  const isTimeSpan = name === "_time" || (typeof options.span === "object" && options.span.kind === "time");
  if (!isTimeSpan) return binNumbers(value, options, () => extentOf(value, input, context));
  const buckets = await timeBucketsOf(options, input, context, command);
  const seconds =
    value.type === "number" && !value.multi ? sql`CAST(${value.sql} AS DOUBLE)` : numberOf(value);
  return { type: "number", multi: false, sql: buckets.bucket(seconds) };
}

function minSpanSeconds({ minspan }: BinOptions): number {
  const given = minspan === undefined || minspan === "auto" ? undefined : timeSpanOf(minspan);
  return given === undefined ? 0 : approximateSeconds(given);
}

async function originOf(
  { aligntime }: BinOptions,
  input: Relation,
  context: SearchContext,
  command: string,
): Promise<number> {
  if (aligntime === undefined) return 0;
  if (/^(earliest|latest)$/i.test(aligntime)) {
    const extent = await timeExtent(input, context);
    if (extent === undefined) return 0;
    return aligntime.toLowerCase() === "earliest" ? extent.least : extent.greatest;
  }
  try {
    return resolveTime(aligntime, context) / 1000;
  } catch (error) {
    if (error instanceof InvalidTime)
      throw commandError(
        command,
        "Invalid value for aligntime.  Must be 'earliest', 'latest', or a valid time (relative times e.g. '-1d@d' are acceptable).",
        "run",
      );
    throw error;
  }
}

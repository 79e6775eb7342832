/** Ranges of dates. The vendor indexes milliseconds, so finer digits of a document do not count. */
import { epochSeconds, epochs } from "@offhook/log-store/dates/time-formats";
import { columnOf, type Field } from "@offhook/log-store/fields";
import { type Sql, sql } from "@offhook/log-store/sql";
import { parseDate } from "../../dates/date-math.ts";
import { type ErrorCause, VendorError } from "../../vendor/error.ts";
import type { QueryContext } from "../compiled-query.ts";
import { ShardError, shardError } from "../errors.ts";
import type { Bound, Scalar } from "../syntax/query.ts";
import { between, some } from "./column.ts";
import { type Matcher, nothing, uniform } from "./matcher.ts";
import { type Bounds, rangeText } from "./numbers.ts";
import { type Target, targetOf } from "./target.ts";

type DateTarget = Extract<Target, { kind: "date" }>;

export interface DateBounds extends Bounds {
  readonly format?: string | undefined;
  readonly timeZone?: string | undefined;
}

/** Whether a bound is date math that `specification` takes as literal text, which no date equals. */
export function isLiteralMath({ fidelity }: QueryContext, { lower, upper }: Bounds): boolean {
  return fidelity === "specification" && [lower, upper].some((bound) => bound && hasDateMath(bound.value));
}

/** @throws ShardError for a bound that is not a date */
export function dateRange(
  context: QueryContext,
  { name, field }: DateTarget,
  bounds: DateBounds,
  boost: number,
): Matcher {
  const { lower, upper } = bounds;
  if (isLiteralMath(context, bounds)) return nothing;
  const { from, to } = rethrowParseError(
    (cause) => shardError(`failed to create query: ${cause.reason}`, cause),
    () => boundsMs(context, field, bounds),
  );
  const compared = [
    ...(lower && from !== undefined
      ? [{ operator: ">=", bound: momentSql(lower.inclusive ? from : from + 1) }]
      : []),
    ...(upper && to !== undefined
      ? [{ operator: "<", bound: momentSql(upper.inclusive ? to + 1 : to) }]
      : []),
  ];
  const predicate = some(field, (value) =>
    compared.length === 0 ? sql`${value} IS NOT NULL` : between(value, compared),
  );
  return uniform(predicate, boost, `${name}:${rangeText(bounds)}`);
}

function hasDateMath(value: Scalar): boolean {
  return typeof value === "string" && (value.startsWith("now") || value.includes("||"));
}

/** Whether the range lies outside the field's first and last date on the shard, which then drops the clause. */
export function isOutside(context: QueryContext, range: DateBounds & { readonly field: string }): boolean {
  const target = targetOf(context, range.field, "whole");
  if (target.kind !== "date") return false;
  const column = columnOf(target.field);
  const [least, most] = target.field.multi
    ? [sql`list_min(${column})`, sql`list_max(${column})`]
    : [column, column];
  const known =
    context.termStatistics?.(sql`SELECT count(${column}), coalesce(epoch_ms(min(${least})), 0), coalesce(epoch_ms(max(${most})), 0)
    FROM documents AS d WHERE d._index = ${context.index}`);
  if (!known) return false;
  const [count = 0, first = 0, last = 0] = known;
  const { from = -FAR_MS, to = FAR_MS } = boundsMs(context, target.field, range);
  return (
    count === 0 ||
    (range.lower?.inclusive === false ? from >= last : from > last) ||
    (range.upper?.inclusive === false ? to <= first : to < first)
  );
}

/** Parses the bounds of a `range` as the shard's rewrite does, where errors have no wrapper. @throws ShardError */
export function checkDateBounds(context: QueryContext, { field }: DateTarget, bounds: DateBounds): void {
  rethrowParseError(
    (cause) => new ShardError(cause),
    () => boundsMs(context, field, bounds),
  );
}

function boundsMs(context: QueryContext, field: Field, bounds: DateBounds): { from?: number; to?: number } {
  const { lower, upper } = bounds;
  // As in the vendor, one numeric bound makes both milliseconds. Only a dataset whose times are counts reads them in its own unit.
  const isEpoch =
    !epochs.some(({ name }) => name === field.timeFormat) &&
    [lower, upper].some((bound) => bound && typeof bound.value !== "string");
  const format = bounds.format ?? (isEpoch ? "epoch_millis" : field.mapping?.format);
  const read = { ...bounds, format, timeFormat: field.timeFormat };
  return {
    ...(lower && { from: boundMs(context, read, lower, lower.inclusive ? "first" : "last") }),
    ...(upper && { to: boundMs(context, read, upper, upper.inclusive ? "last" : "first") }),
  };
}

function boundMs(
  { nowMs }: QueryContext,
  { format, timeZone, timeFormat }: DateBounds & Pick<Field, "timeFormat">,
  { value }: Bound,
  rounding: "first" | "last",
): number {
  const counted = format === undefined ? epochCountMs(String(value), timeFormat, rounding) : undefined;
  if (counted !== undefined) return counted;
  return parseDate(String(value), {
    ...(format !== undefined && { format }),
    ...(timeZone !== undefined && { timeZone }),
    nowMs,
    rounding,
  });
}

/** Runs work and replaces its `parse_exception` by another error. */
function rethrowParseError<Result>(failure: (cause: ErrorCause) => VendorError, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof VendorError) || error.cause.type !== "parse_exception") throw error;
    throw failure(error.cause);
  }
}

/** A number with fewer digits is a year. */
const COUNT = /^\d{9,}(?:\.\d+)?$/;

/** Reads a count since 1970 in the dataset's own unit. The last moment of a whole second is .999, as in `epoch_second`. */
function epochCountMs(
  text: string,
  format: string | undefined,
  rounding: "first" | "last",
): number | undefined {
  const epoch = epochs.find(({ name }) => name === format);
  const micros = COUNT.test(text) ? epoch?.read(text) : undefined;
  if (micros === undefined) return undefined;
  const ms = Number(micros / 1000n);
  const isWholeSecond = epoch === epochSeconds && !text.includes(".");
  return isWholeSecond && rounding === "last" ? ms + 999 : ms;
}

/** Beyond every timestamp, in milliseconds. */
const FAR_MS = 9_000_000_000_000_000;

function momentSql(epochMs: number): Sql {
  const micros = BigInt(Math.trunc(Math.max(-FAR_MS, Math.min(FAR_MS, epochMs)))) * 1000n;
  return sql`make_timestamp(CAST(${micros} AS BIGINT))`;
}

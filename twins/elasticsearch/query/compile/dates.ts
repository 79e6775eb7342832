/** Ranges of time. The vendor keeps milliseconds; what a document has beyond them does not count. */
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

/** Whether a bound is date math where that is a literal text which no time is near, as it is in `specification`. */
export function isLiteralMath({ fidelity }: QueryContext, { lower, upper }: Bounds): boolean {
  return fidelity === "specification" && [lower, upper].some((bound) => bound && hasDateMath(bound.value));
}

/** @throws ShardError for what is no date */
export function dateRange(
  context: QueryContext,
  { name, field }: DateTarget,
  bounds: DateBounds,
  boost: number,
): Matcher {
  const { lower, upper } = bounds;
  if (isLiteralMath(context, bounds)) return nothing;
  const { from, to } = failingAs(
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

/** Whether a shard knows that none of its documents is within a range of dates, from the first and the last of the field. */
export function isOutside(context: QueryContext, range: DateBounds & { readonly field: string }): boolean {
  const target = targetOf(context, range.field, "whole");
  if (target.kind !== "date") return false;
  const column = columnOf(target.field);
  const [least, most] = target.field.multi
    ? [sql`list_min(${column})`, sql`list_max(${column})`]
    : [column, column];
  const known =
    context.figures?.(sql`SELECT count(${column}), coalesce(epoch_ms(min(${least})), 0), coalesce(epoch_ms(max(${most})), 0)
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

/** Reads the bounds of a `range` while a shard rewrites it: what is no date then fails by itself. @throws ShardError */
export function checkDateBounds(context: QueryContext, { field }: DateTarget, bounds: DateBounds): void {
  failingAs(
    (cause) => new ShardError(cause),
    () => boundsMs(context, field, bounds),
  );
}

function boundsMs(context: QueryContext, field: Field, bounds: DateBounds): { from?: number; to?: number } {
  const { lower, upper } = bounds;
  // One number makes both of them milliseconds, whatever the format of the field: a dataset's own counts are of its own unit.
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
  const counted = format === undefined ? countedMs(String(value), timeFormat, rounding) : undefined;
  if (counted !== undefined) return counted;
  return parseDate(String(value), {
    ...(format !== undefined && { format }),
    ...(timeZone !== undefined && { timeZone }),
    nowMs,
    rounding,
  });
}

/** What is no date fails as `failure` says. */
function failingAs<Result>(failure: (cause: ErrorCause) => VendorError, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof VendorError) || error.cause.type !== "parse_exception") throw error;
    throw failure(error.cause);
  }
}

/** With fewer digits, a number is a year. */
const COUNT = /^\d{9,}(?:\.\d+)?$/;

/** A count since 1970 in the unit that the dataset's own are in; a whole second lasts up to the next, as `epoch_second` has it. */
function countedMs(text: string, format: string | undefined, rounding: "first" | "last"): number | undefined {
  const epoch = epochs.find(({ name }) => name === format);
  const micros = COUNT.test(text) ? epoch?.read(text) : undefined;
  if (micros === undefined) return undefined;
  const ms = Number(micros / 1000n);
  const isWholeSecond = epoch === epochSeconds && !text.includes(".");
  return isWholeSecond && rounding === "last" ? ms + 999 : ms;
}

/** Beyond what a timestamp can be, in milliseconds. */
const FAR_MS = 9_000_000_000_000_000;

function momentSql(epochMs: number): Sql {
  const micros = BigInt(Math.trunc(Math.max(-FAR_MS, Math.min(FAR_MS, epochMs)))) * 1000n;
  return sql`make_timestamp(CAST(${micros} AS BIGINT))`;
}

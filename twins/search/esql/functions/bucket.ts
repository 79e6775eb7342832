/** BUCKET. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-functions-operators.html#esql-bucket */
import { sql } from "../../../datasets/sql.ts";
import { parsingError, UnrecognisedEsql } from "../errors.ts";
import { readDate } from "../implicit-cast.ts";
import { type Typed, unknownTyped } from "../typed.ts";
import { isNumeric, isTimeSpan, type TypeSet, typeSets } from "../types.ts";
import { argument, type Call, type GroupingFunction } from "./declaration.ts";
import { type Rounding, roundDownSql, roundingOf } from "./rounding.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Spans that BUCKET chooses from, from the longest. */
const choices: readonly (Rounding & { leastMs: number })[] = [
  { calendar: "year", leastMs: 365 * DAY },
  { calendar: "quarter", leastMs: 90 * DAY },
  { calendar: "month", leastMs: 28 * DAY },
  { calendar: "week", leastMs: 7 * DAY },
  { calendar: "day", leastMs: DAY },
  ...[
    12 * HOUR,
    3 * HOUR,
    HOUR,
    30 * MINUTE,
    10 * MINUTE,
    5 * MINUTE,
    MINUTE,
    30_000,
    10_000,
    5_000,
    1_000,
    100,
    50,
    20,
    10,
    5,
    1,
  ].map((ms) => ({ ms, leastMs: ms })),
];

const numericOrDate: TypeSet = {
  label: "datetime or numeric",
  types: new Set(["datetime", "integer", "long", "double"]),
};
const bound: TypeSet = {
  label: "datetime, numeric or string",
  types: new Set(["datetime", "keyword", "text", "integer", "long", "double"]),
};
const size: TypeSet = {
  label: "numeric, date_period or time_duration",
  types: new Set([...typeSets.signed.types, "date_period", "time_duration"]),
};

export const bucketFunction: GroupingFunction = {
  kind: "grouping",
  family: "grouping",
  name: "bucket",
  aliases: ["bin"],
  summary: "Groups of equal size: of a given size, or at most so many between two bounds.",
  parameters: [
    { name: "field", types: numericOrDate },
    { name: "buckets", types: size },
    { name: "from", types: bound, optional: true },
    { name: "to", types: bound, optional: true },
  ],
  returns: ([type]) => (type === "datetime" ? "datetime" : "double"),
  compile(call) {
    if (call.args.length === 3)
      throw parsingError(call.at, "error building [bucket]: expects two or four arguments");
    return argument(call, 0).type === "datetime" ? ofDates(call) : ofNumbers(call);
  },
};

function mismatch({ compiler, at }: Call, ordinal: string, label: string, value: Typed): Typed {
  compiler.problems.mismatch(
    at,
    `${ordinal} argument of [${compiler.text(at)}] must be [${label}], found value [${compiler.text(value.at)}] type [${value.type}]`,
  );
  return unknownTyped(at);
}

function ofDates(call: Call): Typed {
  const [date, count] = [argument(call, 0), argument(call, 1)];
  const { constant } = count;
  if (constant?.type === "date_period" || constant?.type === "time_duration") {
    if (call.args.length > 2) return mismatch(call, "second", "integral", count);
    return call.made(roundDownSql(date.sql, roundingOf(constant.value)));
  }
  if (call.args.length === 2 || count.type === "double")
    return mismatch(call, "second", "date_period or time_duration", count);
  const buckets = numberOf(count);
  const [from, to] = [momentOf(call, 2), momentOf(call, 3)];
  if (from === undefined || to === undefined) return unknownTyped(call.at);
  return call.made(roundDownSql(date.sql, choose(buckets, from, to)));
}

/** The shortest span that needs no more than so many buckets. */
function choose(buckets: number, from: number, to: number): Rounding {
  let best: Rounding = choices[0] ?? { calendar: "year" };
  for (const choice of choices) {
    if (bucketsBetween(choice, from, to, buckets) > buckets) break;
    best = choice;
  }
  return best;
}

/** Counted up to one more than `most`. */
function bucketsBetween(rounding: Rounding, from: number, to: number, most: number): number {
  if ("ms" in rounding) return Math.floor((to - 1) / rounding.ms) - Math.floor(from / rounding.ms) + 1;
  let count = 0;
  for (
    let at = floorMs(rounding.calendar, from);
    at < to && count <= most;
    at = nextMs(rounding.calendar, at)
  )
    count++;
  return count;
}

type Calendar = Extract<Rounding, { calendar: string }>["calendar"];

function floorMs(calendar: Calendar, epochMs: number): number {
  if (calendar === "day") return Math.floor(epochMs / DAY) * DAY;
  if (calendar === "week") return Math.floor((epochMs - 4 * DAY) / (7 * DAY)) * 7 * DAY + 4 * DAY;
  const date = new Date(epochMs);
  const month =
    calendar === "year"
      ? 0
      : calendar === "quarter"
        ? Math.floor(date.getUTCMonth() / 3) * 3
        : date.getUTCMonth();
  return Date.UTC(date.getUTCFullYear(), month);
}

function nextMs(calendar: Calendar, epochMs: number): number {
  if (calendar === "day") return epochMs + DAY;
  if (calendar === "week") return epochMs + 7 * DAY;
  const date = new Date(epochMs);
  const months = calendar === "year" ? 12 : calendar === "quarter" ? 3 : 1;
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months);
}

function ofNumbers(call: Call): Typed {
  const [value, count] = [argument(call, 0), argument(call, 1)];
  if (isTimeSpan(count.type)) return mismatch(call, "second", "numeric", count);
  const width = call.args.length === 2 ? numberOf(count) : chooseWidth(numberOf(count), call);
  const wide = sql`CAST(${width} AS DOUBLE)`;
  return call.made(sql`(floor(CAST(${value.sql} AS DOUBLE) / ${wide}) * ${wide})`);
}

/** A power of ten that makes no more than so many buckets. */
function chooseWidth(buckets: number, call: Call): number {
  const [from, to] = [numberOf(argument(call, 2)), numberOf(argument(call, 3))];
  const precise = (to - from) / buckets;
  const next = 10 ** Math.ceil(Math.log10(precise));
  const half = next / 2;
  return precise < half ? half : next;
}

function numberOf({ constant, at }: Typed): number {
  if (
    constant &&
    "value" in constant &&
    (typeof constant.value === "bigint" || typeof constant.value === "number")
  ) {
    return Number(constant.value);
  }
  throw new UnrecognisedEsql(at, "an argument of BUCKET that is no constant");
}

function momentOf(call: Call, index: number): number | undefined {
  const given = argument(call, index);
  const { constant, at } = given;
  if (constant?.type === "datetime") return constant.value;
  if (constant?.type === "keyword") {
    const epochMs = readDate(constant.value);
    if (epochMs !== undefined) return epochMs;
    mismatch(call, index === 2 ? "third" : "fourth", "datetime or string", given);
    return undefined;
  }
  if (isNumeric(given.type)) {
    mismatch(call, index === 2 ? "third" : "fourth", "datetime or string", given);
    return undefined;
  }
  throw new UnrecognisedEsql(at, "a bound of BUCKET that is no constant");
}

/** BUCKET. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-functions-operators.html#esql-bucket */

import { sql } from "@offhook/log-store/sql";
import { illegalArgument } from "../../vendor/error.ts";
import { readDate } from "../implicit-cast.ts";
import { type Constant, nullTyped, type Typed, unknownTyped } from "../typed.ts";
import { type DataType, isNumeric, isString, isTimeSpan, isWhole, type TypeSet, typeSets } from "../types.ts";
import { argument, type Call, constantArgument, type GroupingFunction } from "./declaration.ts";
import { type Rounding, roundDownSql, roundingOf } from "./rounding.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Spans that BUCKET chooses from below a year, longest first. */
const choices: readonly Rounding[] = [
  { calendar: "month" },
  { calendar: "week" },
  { calendar: "day" },
  ...[12 * HOUR, 3 * HOUR, HOUR, 30 * MINUTE, 10 * MINUTE, 5 * MINUTE, MINUTE].map((ms) => ({ ms })),
  ...[30_000, 10_000, 5_000, 1_000, 100, 50, 10, 1].map((ms) => ({ ms })),
];

const anyType: TypeSet = {
  ...typeSets.any,
  label: "any",
  types: new Set([...typeSets.any.types, "date_period", "time_duration"]),
};

export const bucketFunction: GroupingFunction = {
  kind: "grouping",
  family: "grouping",
  name: "bucket",
  aliases: ["bin"],
  summary: "Groups of equal size: of a given size, or at most so many between two bounds.",
  parameters: [
    { name: "field", types: anyType },
    { name: "buckets", types: anyType },
    { name: "from", types: anyType, optional: true },
    { name: "to", types: anyType, optional: true },
  ],
  returns: ([type = "null"]) => (isNumeric(type) ? "double" : type),
  compile(call) {
    const [field, buckets] = [argument(call, 0), argument(call, 1)];
    if (field.type === "null" || buckets.type === "null") return nullTyped(call.at, call.type);
    if (field.type === "datetime") return bucketDates(call, field, buckets);
    if (isNumeric(field.type)) return bucketNumbers(call, field, buckets);
    return reportMismatch(call, "first", "datetime or numeric", field);
  },
};

function reportMismatch({ compiler, at }: Call, ordinal: string, label: string, value: Typed): Typed {
  compiler.problems.mismatch(
    at,
    `${ordinal} argument of [${compiler.text(at)}] must be [${label}], found value [${compiler.text(value.at)}] type [${value.type}]`,
  );
  return unknownTyped(at);
}

function bucketDates(call: Call, date: Typed, buckets: Typed): Typed {
  if (isTimeSpan(buckets.type)) {
    if (!checkCount(call, 2)) return unknownTyped(call.at);
    const span = constantArgument(call, 1);
    return span?.type === "date_period" || span?.type === "time_duration"
      ? call.derive(roundDownSql(date.sql, roundingOf(span.value)))
      : nullTyped(call.at, "datetime");
  }
  if (!isWhole(buckets.type))
    return reportMismatch(call, "second", "integral, date_period or time_duration", buckets);
  if (!checkCount(call, 4)) return unknownTyped(call.at);
  const bounds = [boundType(call, 2), boundType(call, 3)];
  if (bounds.includes("unknown")) return unknownTyped(call.at);
  const [count, from, to] = [numberAt(call, 1), momentAt(call, 2), momentAt(call, 3)];
  if (count === undefined || from === undefined || to === undefined) return unknownTyped(call.at);
  return call.derive(roundDownSql(date.sql, choose(count, from, to)));
}

function boundType(call: Call, index: 2 | 3): DataType {
  const bound = argument(call, index);
  if (isString(bound.type) || bound.type === "datetime" || bound.type === "null") return bound.type;
  return reportMismatch(call, index === 2 ? "third" : "fourth", "datetime or string", bound).type;
}

/** Checks the number of arguments, which depends on their types. */
function checkCount(call: Call, count: 2 | 4): boolean {
  if (call.args.length === count) return true;
  const [field, buckets] = [argument(call, 0), argument(call, 1)];
  call.compiler.problems.mismatch(
    call.at,
    `function expects exactly ${count === 2 ? "two" : "four"} arguments when the first one is of type [${field.type.toUpperCase()}] and the second of type [${buckets.type.toUpperCase()}]`,
  );
  return false;
}

/** The shortest span that needs at most `buckets` buckets, including the one of the upper bound. */
function choose(buckets: number, from: number, to: number): Rounding {
  let best: Rounding = { calendar: "year" };
  for (const choice of choices) {
    if (bucketAfter(choice, from, buckets) <= to) break;
    best = choice;
  }
  return best;
}

/** Start of the bucket `count` after the one that contains a moment; infinite beyond the range of dates. */
function bucketAfter(rounding: Rounding, epochMs: number, count: number): number {
  if (count < 1) return Number.NEGATIVE_INFINITY;
  if ("ms" in rounding) return (Math.floor(epochMs / rounding.ms) + count) * rounding.ms;
  const start = floorMs(rounding.calendar, epochMs);
  if (rounding.calendar === "day") return start + count * DAY;
  if (rounding.calendar === "week") return start + count * 7 * DAY;
  const date = new Date(start);
  const months = rounding.calendar === "year" ? 12 : rounding.calendar === "quarter" ? 3 : 1;
  const moment = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months * count);
  return Number.isNaN(moment) ? Number.POSITIVE_INFINITY : moment;
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

function bucketNumbers(call: Call, value: Typed, buckets: Typed): Typed {
  const whole = isWhole(buckets.type);
  if (!whole && buckets.type !== "double") return reportMismatch(call, "second", "numeric", buckets);
  if (!checkCount(call, whole ? 4 : 2)) return unknownTyped(call.at);
  const width = whole ? chooseWidth(call) : numberAt(call, 1);
  if (width === undefined) return unknownTyped(call.at);
  const wide = sql`CAST(${width} AS DOUBLE)`;
  return call.derive(sql`(floor(CAST(${value.sql} AS DOUBLE) / ${wide}) * ${wide})`);
}

/** A power of ten, or half of one, that makes about the requested number of buckets. */
function chooseWidth(call: Call): number | undefined {
  for (const index of [2, 3] as const) {
    const bound = argument(call, index);
    if (!isNumeric(bound.type) && bound.type !== "null")
      return void reportMismatch(call, index === 2 ? "third" : "fourth", "numeric", bound);
  }
  const [buckets, from, to] = [numberAt(call, 1), numberAt(call, 2), numberAt(call, 3)];
  if (buckets === undefined || from === undefined || to === undefined) return undefined;
  const precise = (to - from) / buckets;
  const next = 10 ** Math.ceil(Math.log10(precise));
  const half = next / 2;
  return precise < half ? half : next;
}

const ordinals = ["first", "second", "third", "fourth"];

/** A constant argument; `undefined` after a problem was reported. */
function constantAt(call: Call, index: number): Constant | undefined {
  const constant = constantArgument(call, index);
  if (constant && constant.type !== "null") return constant;
  const { compiler, at } = call;
  compiler.problems.mismatch(
    at,
    `${ordinals[index]} argument of [${compiler.text(at)}] must be a constant, received [${compiler.text(argument(call, index).at)}]`,
  );
  return undefined;
}

function numberAt(call: Call, index: number): number | undefined {
  const constant = constantAt(call, index);
  return constant && "value" in constant ? Number(constant.value) : undefined;
}

function momentAt(call: Call, index: 2 | 3): number | undefined {
  const constant = constantAt(call, index);
  if (constant?.type === "datetime") return constant.value;
  if (constant?.type !== "keyword") return undefined;
  const epochMs = readDate(constant.value);
  if (epochMs !== undefined) return epochMs;
  throw illegalArgument(
    `failed to parse date field [${constant.value}] with format [strict_date_optional_time]`,
  );
}

/** Functions of dates. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-functions-operators.html#esql-date-time-functions */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { invalidArgument, UnrecognisedEsql } from "../errors.ts";
import { similarNames } from "../params.ts";
import { constantTyped, nullTyped, type Typed } from "../typed.ts";
import { isString, typeSets } from "../types.ts";
import { dateParts } from "./date-parts.ts";
import { formatSql, parseSql } from "./date-pattern.ts";
import { argument, type Call, constantArgument, type ScalarFunction } from "./declaration.ts";
import { roundDownSql, roundingOf } from "./rounding.ts";

const date = { name: "date", types: typeSets.datetime } as const;
const DEFAULT_FORMAT = "strict_date_optional_time";

function declareDate(declaration: Omit<ScalarFunction, "kind" | "family">): ScalarFunction {
  return { kind: "scalar", family: "date", ...declaration };
}

/** A constant string; `undefined` for null. */
function constantText(call: Call, index: number, what: string): string | undefined {
  const constant = constantArgument(call, index);
  if (constant?.type === "keyword") return constant.value;
  if (constant?.type === "null") return undefined;
  throw new UnrecognisedEsql(argument(call, index).at, `${what} that is no constant`);
}

export const dateFunctions: readonly ScalarFunction[] = [
  declareDate({
    name: "date_diff",
    summary: "How many whole units lie between two dates.",
    parameters: [
      { name: "unit", types: typeSets.string },
      { ...date, name: "startTimestamp" },
      { ...date, name: "endTimestamp" },
    ],
    returns: "integer",
    compile: difference,
  }),
  declareDate({
    name: "date_extract",
    summary: "A part of a date: `year`, `hour_of_day`, …",
    parameters: [{ name: "datePart", types: typeSets.string }, date],
    returns: "long",
    compile(call) {
      const part = constantText(call, 0, "a part of a date");
      if (part === undefined) return nullTyped(call.at, "long");
      const value = call.compiler.hoist(argument(call, 1)).sql;
      const name = part.toUpperCase();
      const extract = Object.hasOwn(dateParts, name) ? dateParts[name] : undefined;
      if (!extract) throw invalidArgument(`invalid date field for [${call.compiler.text(call.at)}]: ${part}`);
      return call.derive(sql`CAST(${extract(value)} AS BIGINT)`);
    },
  }),
  declareDate({
    name: "date_format",
    summary: "A date as text, by a pattern.",
    parameters: [
      {
        name: "dateFormat",
        types: { label: "string or datetime", types: new Set(["keyword", "text", "datetime"]) },
      },
      { ...date, optional: true },
    ],
    returns: "keyword",
    compile(call) {
      const [first, second] = [argument(call, 0), call.args[1]];
      const value = second ?? first;
      if (!second && value.type !== "datetime") return reportWrongDate(call, value);
      if (second && !isString(first.type)) return reportWrongPattern(call, first);
      const pattern = second ? constantText(call, 0, "a pattern of dates") : DEFAULT_FORMAT;
      if (pattern === undefined) return nullTyped(call.at, "keyword");
      return call.derive(formatSql(call.compiler.hoist(value).sql, pattern, first.at));
    },
  }),
  declareDate({
    name: "date_parse",
    summary: "The date that a text means, by a pattern.",
    parameters: [
      { name: "datePattern", types: typeSets.string },
      { name: "dateString", types: typeSets.string, optional: true },
    ],
    returns: "datetime",
    compile(call) {
      const [first, second] = [argument(call, 0), call.args[1]];
      const pattern = second ? constantText(call, 0, "a pattern of dates") : DEFAULT_FORMAT;
      if (pattern === undefined) return nullTyped(call.at, "datetime");
      const text = call.compiler.hoist(second ?? first);
      const made = call.derive(parseSql(text.sql, pattern, first.at));
      return call.compiler.attempt(
        made,
        [text],
        sql`'java.lang.IllegalArgumentException: failed to parse date field [' || ${text.sql} || '] with format [' || ${pattern} || ']'`,
      );
    },
  }),
  declareDate({
    name: "date_trunc",
    summary: "The start of the span of time that a date lies in.",
    parameters: [{ name: "interval", types: typeSets.timeSpan }, date],
    returns: "datetime",
    compile(call) {
      const span = argument(call, 0).constant;
      if (span?.type !== "date_period" && span?.type !== "time_duration") {
        throw new UnrecognisedEsql(call.at, "a span of time that is no constant");
      }
      return call.derive(roundDownSql(argument(call, 1).sql, roundingOf(span.value)));
    },
  }),
  declareDate({
    name: "now",
    summary: "The time of the sandbox's clock.",
    parameters: [],
    returns: "datetime",
    compile: ({ compiler, at }) => constantTyped({ type: "datetime", value: compiler.context.nowMs }, at),
  }),
];

function reportWrongDate({ compiler, at }: Call, value: Typed): Typed {
  compiler.problems.mismatch(
    at,
    `argument of [${compiler.text(at)}] must be [datetime], found value [${compiler.text(value.at)}] type [${value.type}]`,
  );
  return { ...value, type: "unknown" };
}

function reportWrongPattern({ compiler, at }: Call, value: Typed): Typed {
  compiler.problems.mismatch(
    at,
    `first argument of [${compiler.text(at)}] must be [string], found value [${compiler.text(value.at)}] type [${value.type}]`,
  );
  return { ...value, type: "unknown" };
}

/** Units of DATE_DIFF with their aliases; years and days are counted like Java's calendar. */
const differences: readonly { names: readonly string[]; count: (start: Sql, end: Sql) => Sql }[] = [
  {
    names: ["year", "years", "yyyy", "yy"],
    count: (start, end) => sql`date_part('year', ${end}) - date_part('year', ${start})`,
  },
  {
    names: ["quarter", "quarters", "qq", "q"],
    count: (start, end) => sql`(${wholeMonths(start, end)}) // 3`,
  },
  { names: ["month", "months", "mm", "m"], count: wholeMonths },
  { names: ["dayofyear", "dy", "y"], count: countElapsed(86_400_000) },
  { names: ["day", "days", "dd", "d"], count: countElapsed(86_400_000) },
  { names: ["week", "weeks", "wk", "ww"], count: countElapsed(7 * 86_400_000) },
  { names: ["weekday", "weekdays", "dw"], count: countElapsed(86_400_000) },
  { names: ["hour", "hours", "hh"], count: countElapsed(3_600_000) },
  { names: ["minute", "minutes", "mi", "n"], count: countElapsed(60_000) },
  { names: ["second", "seconds", "ss", "s"], count: countElapsed(1000) },
  { names: ["millisecond", "milliseconds", "ms"], count: countElapsed(1) },
  {
    names: ["microsecond", "microseconds", "mcs"],
    count: (start, end) => sql`(${countElapsed(1)(start, end)}) * 1000`,
  },
  {
    names: ["nanosecond", "nanoseconds", "ns"],
    count: (start, end) => sql`(${countElapsed(1)(start, end)}) * 1000000`,
  },
];

/** A month is complete when its day and time are reached: 31 January to 28 February is no month. */
function wholeMonths(start: Sql, end: Sql): Sql {
  return sql`(${monthPosition(end)} - ${monthPosition(start)}) // 2764800000000`;
}

/** Months since the year 0 times 32 days, and the time of the month, in microseconds. */
function monthPosition(date: Sql): Sql {
  const ofMonth = sql`epoch_us(${date}) - epoch_us(date_trunc('month', ${date}))`;
  return sql`((date_part('year', ${date}) * 12 + date_part('month', ${date})) * 2764800000000 + ${ofMonth})`;
}

function countElapsed(unitMs: number): (start: Sql, end: Sql) => Sql {
  return (start, end) => sql`(epoch_ms(${end}) - epoch_ms(${start})) // ${raw(String(unitMs))}`;
}

function difference(call: Call): Typed {
  const { compiler } = call;
  const unit = constantText(call, 0, "a unit of time");
  if (unit === undefined) return nullTyped(call.at, "integer");
  const found = differences.find(({ names }) => names.includes(unit.toLowerCase()));
  if (!found) {
    const known = differences.map(({ names }) => (names[0] ?? "").toUpperCase()).join(", ");
    const all = differences.flatMap(({ names }) => names);
    const similar = similarNames(unit, all);
    throw invalidArgument(
      `invalid unit format for [${compiler.text(call.at)}]: ${
        similar.length > 0
          ? `Received value [${unit}] is not valid date part to add; did you mean [${similar.join(", ")}]?`
          : `A value of [${known}] or their aliases is required; received [${unit}]`
      }`,
    );
  }
  const start = compiler.hoist(argument(call, 1));
  const end = compiler.hoist(argument(call, 2));
  const counted = compiler.hoist({
    ...call.derive(sql`CAST(${found.count(start.sql, end.sql)} AS BIGINT)`),
    type: "long",
  });
  const message = sql`'org.elasticsearch.xpack.esql.core.InvalidArgumentException: [' || CAST(${counted.sql} AS VARCHAR) || '] out of [integer] range'`;
  return compiler.attempt(call.derive(sql`CAST(${counted.sql} AS INTEGER)`), [counted], message);
}

/**
 * Conversion functions; several values are converted one by one. Source:
 * https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-functions-operators.html#esql-type-conversion-functions
 */

import { parseIp } from "@offhook/log-store/ip-address";
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { readDate } from "../implicit-cast.ts";
import { ipFromTextSql, ipToTextSql, ipTyped } from "../ip-sql.ts";
import { constantTyped, type Typed } from "../typed.ts";
import { anyOf, type DataType, isString, sqlType, type TypeSet, typeSets } from "../types.ts";
import { parseSql } from "./date-pattern.ts";
import { argument, type Call, type ScalarFunction } from "./declaration.ts";
import { versionFromTextSql, versionToTextSql } from "./version.ts";

type Convert = (value: Sql, from: DataType, call: Call) => Sql;

interface Conversion {
  name: string;
  aliases?: readonly string[];
  summary: string;
  types: ScalarFunction["parameters"][number]["types"];
  to: DataType;
  convert: Convert;
  /** The vendor's warning for an inconvertible value. */
  failure: (value: Sql, from: DataType) => Sql | string;
}

const { boolean, datetime, double, ip, numeric, string } = typeSets;
const version = { label: "version", types: new Set<DataType>(["version"]) };
/** @param more types that the vendor's message lists and a dataset does not have */
function numberTypes(...more: string[]): TypeSet {
  const label = ["boolean", ...more, "datetime", "numeric", "string"].join(" or ");
  return anyOf(label, boolean, datetime, string, numeric);
}
const INVALID = "org.elasticsearch.xpack.esql.core.InvalidArgumentException: ";

function conversion({
  name,
  aliases = [],
  summary,
  types,
  to,
  convert,
  failure,
}: Conversion): ScalarFunction {
  return {
    kind: "scalar",
    family: "conversion",
    name,
    aliases,
    summary,
    parameters: [{ name: "field", types, multi: true }],
    returns: to,
    compile: (call) => {
      const given = argument(call, 0);
      if (given.type === to) return given;
      const folded = fold(given, to);
      return (
        folded ??
        (given.multi ? eachOf(call, given, convert, failure) : convertOne(call, given, convert, failure))
      );
    },
  };
}

/** Converts an angle between degrees and radians. */
function angle(name: string, summary: string, called: "degrees" | "radians"): ScalarFunction {
  const convert: Convert = (value) => sql`${raw(called)}(CAST(${value} AS DOUBLE))`;
  return {
    kind: "scalar",
    family: "conversion",
    name,
    summary,
    parameters: [{ name: "number", types: numeric, multi: true }],
    returns: "double",
    compile: (call) => {
      const given = argument(call, 0);
      return given.multi
        ? eachOf(call, given, convert)
        : call.compiler.finite(call.derive(convert(given.sql, given.type, call)));
    },
  };
}

/** Folds constants that other functions need to know: dates and addresses. */
function fold({ constant, at }: Typed, to: DataType): Typed | undefined {
  if (constant?.type !== "keyword") return undefined;
  if (to === "datetime") {
    const epochMs = readDate(constant.value);
    return epochMs === undefined ? undefined : constantTyped({ type: to, value: epochMs }, at);
  }
  const address = to === "ip" ? parseIp(constant.value) : undefined;
  return address === undefined ? undefined : ipTyped(address, at);
}

function convertOne(call: Call, given: Typed, convert: Convert, failure: Conversion["failure"]): Typed {
  const value = call.compiler.hoist(given);
  const made = call.derive(convert(value.sql, given.type, call));
  return call.compiler.attempt(made, [value], failure(value.sql, given.type));
}

function eachOf(call: Call, given: Typed, convert: Convert, failure?: Conversion["failure"]): Typed {
  const { compiler } = call;
  const values = compiler.hoist(given);
  const attempt = sql`TRY(${convert(raw("v"), given.type, call)})`;
  if (failure) {
    const failed = sql`list_filter(${values.sql}, lambda v: ${attempt} IS NULL)`;
    const messages = sql`unnest(list_transform(${failed}, lambda v: CAST(${sql`${failure(raw("v"), given.type)}`} AS VARCHAR)))`;
    compiler.pipeline.check(call.at, sql`len(${failed}) > 0`, messages);
  }
  const kept = sql`nullif(list_filter(list_transform(${values.sql}, lambda v: ${attempt}), lambda v: v IS NOT NULL), [])`;
  return { ...call.derive(kept), multi: true };
}

function quoteValue(before: string, value: Sql, after: string): Sql {
  return sql`${before} || CAST(${value} AS VARCHAR) || ${after}`;
}

/** To an integer; rounds half up, as Java's `Math.round` does. */
function toInteger(to: "integer" | "long" | "unsigned_long"): Convert {
  return (value, from) => {
    if (from === "datetime") return sql`CAST(epoch_ms(${value}) AS ${sqlType(to)})`;
    if (from === "boolean") return sql`CAST(CAST(${value} AS INTEGER) AS ${sqlType(to)})`;
    if (from === "double") return sql`CAST(floor(${value} + 0.5) AS ${sqlType(to)})`;
    if (!isString(from)) return sql`CAST(${value} AS ${sqlType(to)})`;
    const exact = sql`regexp_full_match(${value}, '[+-]?[0-9]+')`;
    return sql`CASE WHEN ${exact} THEN CAST(${value} AS ${sqlType(to)}) ELSE CAST(floor(CAST(${numberText(value)} AS DOUBLE) + 0.5) AS ${sqlType(to)}) END`;
  };
}

/** Keeps texts that Java parses as a number; the cast fails for all others. */
function numberText(value: Sql): Sql {
  return sql`CASE WHEN regexp_full_match(trim(${value}), '[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?') THEN trim(${value}) ELSE 'x' END`;
}

function wholeFailure(to: string): Conversion["failure"] {
  return (value, from) => {
    const shown = from === "double" ? doubleText(value) : value;
    const range = quoteValue(`${INVALID}[`, shown, `] out of [${to}] range`);
    if (!isString(from)) return range;
    const text = quoteValue(`${INVALID}Cannot parse number [`, value, "]");
    return sql`CASE WHEN regexp_full_match(${value}, '[+-]?[0-9.]+') THEN ${range} ELSE ${text} END`;
  };
}

const cannotParse: Conversion["failure"] = (value) =>
  quoteValue(`${INVALID}Cannot parse number [`, value, "]");

export const conversionFunctions: readonly ScalarFunction[] = [
  conversion({
    name: "to_boolean",
    aliases: ["to_bool"],
    summary: "`true` in any case is true, other text false; numbers are true unless 0.",
    types: anyOf("boolean or numeric or string", boolean, string, numeric),
    to: "boolean",
    convert: (value, from) => (isString(from) ? sql`(lower(${value}) = 'true')` : sql`(${value} <> 0)`),
    failure: () => `${INVALID}cannot convert to boolean`,
  }),
  conversion({
    name: "to_datetime",
    aliases: ["to_dt"],
    summary: "Text in the default format, or milliseconds since the epoch.",
    types: anyOf("datetime or numeric or string", datetime, string, numeric),
    to: "datetime",
    convert: (value, from, { at }) => {
      if (isString(from)) return parseSql(value, "strict_date_optional_time", at);
      return sql`make_timestamp_ms(CAST(${from === "double" ? sql`floor(${value} + 0.5)` : value} AS BIGINT))`;
    },
    failure: (value, from) => dateFailure(value, from, "strict_date_optional_time"),
  }),
  angle("to_degrees", "An angle in radians as degrees.", "degrees"),
  conversion({
    name: "to_double",
    aliases: ["to_dbl"],
    summary: "As a floating-point number; dates as milliseconds since the epoch.",
    types: numberTypes("counter_double", "counter_integer", "counter_long"),
    to: "double",
    convert: (value, from) => {
      if (from === "datetime") return sql`CAST(epoch_ms(${value}) AS DOUBLE)`;
      return sql`CAST(${isString(from) ? numberText(value) : value} AS DOUBLE)`;
    },
    failure: cannotParse,
  }),
  conversion({
    name: "to_integer",
    aliases: ["to_int"],
    summary: "As a whole number of 32 bits.",
    types: numberTypes("counter_integer"),
    to: "integer",
    convert: toInteger("integer"),
    failure: wholeFailure("integer"),
  }),
  conversion({
    name: "to_ip",
    summary: "The address that a text is.",
    types: anyOf("ip or string", ip, string),
    to: "ip",
    convert: (value) => ipFromTextSql(value),
    failure: (value) =>
      quoteValue("java.lang.IllegalArgumentException: '", value, "' is not an IP string literal."),
  }),
  conversion({
    name: "to_long",
    summary: "As a whole number of 64 bits; dates as milliseconds since the epoch.",
    types: numberTypes("counter_integer", "counter_long"),
    to: "long",
    convert: toInteger("long"),
    failure: wholeFailure("long"),
  }),
  angle("to_radians", "An angle in degrees as radians.", "radians"),
  conversion({
    name: "to_string",
    aliases: ["to_str"],
    summary: "As text, as an answer prints it.",
    types: anyOf(
      "boolean or cartesian_point or cartesian_shape or datetime or geo_point or geo_shape or ip or numeric or string or version",
      typeSets.any,
      version,
      double,
    ),
    to: "keyword",
    convert: textOf,
    failure: () => `${INVALID}cannot convert to string`,
  }),
  conversion({
    name: "to_unsigned_long",
    aliases: ["to_ulong", "to_ul"],
    summary: "As a whole number of 64 bits without a sign.",
    types: numberTypes(),
    to: "unsigned_long",
    convert: toInteger("unsigned_long"),
    failure: wholeFailure("unsigned_long"),
  }),
  conversion({
    name: "to_version",
    aliases: ["to_ver"],
    summary: "As a version, which is ordered by its numbers.",
    types: anyOf("string or version", string, version),
    to: "version",
    convert: (value) => versionFromTextSql(value),
    failure: () => `${INVALID}cannot convert to version`,
  }),
];

function dateFailure(value: Sql, from: DataType, format: string): Sql {
  const refused = quoteValue(
    "java.lang.IllegalArgumentException: failed to parse date field [",
    value,
    `] with format [${format}]`,
  );
  if (!isString(from)) return refused;
  return sql`CASE WHEN ${value} = '' THEN 'java.lang.IllegalArgumentException: cannot parse empty datetime' ELSE ${refused} END`;
}

function textOf(value: Sql, from: DataType): Sql {
  if (isString(from)) return value;
  if (from === "datetime") return sql`strftime(${value}, '%Y-%m-%dT%H:%M:%S.%gZ')`;
  if (from === "ip") return ipToTextSql(value);
  if (from === "version") return versionToTextSql(value);
  if (from === "double") return doubleText(value);
  return sql`CAST(${value} AS VARCHAR)`;
}

/** A double in Java's notation: `1.0`, `1.0E10`, `1.5E-7`. */
function doubleText(value: Sql): Sql {
  const plain = sql`CAST(${value} AS VARCHAR)`;
  const exponent = sql`CAST(floor(log10(abs(${value}))) AS INTEGER)`;
  const mantissa = sql`CAST(round(${value} / pow(10, ${exponent}), 15) AS VARCHAR)`;
  return sql`CASE WHEN ${value} = 0 OR (abs(${value}) >= 0.001 AND abs(${value}) < 10000000) THEN ${plain} ELSE ${mantissa} || 'E' || CAST(${exponent} AS VARCHAR) END`;
}

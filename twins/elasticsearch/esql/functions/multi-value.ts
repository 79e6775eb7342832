/**
 * Functions of multi-valued fields. Source:
 * https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-functions-operators.html#esql-mv-functions
 */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { invalidArgument } from "../errors.ts";
import { type Typed, unknownTyped } from "../typed.ts";
import { type DataType, sqlType, typeSets } from "../types.ts";
import {
  argument,
  type Call,
  constantArgument,
  type ScalarFunction,
  sameKind,
  sameType,
} from "./declaration.ts";

const field = { name: "field", types: typeSets.any, multi: true } as const;
const numbers = { name: "number", types: typeSets.numeric, multi: true } as const;

function declareMultiValue(declaration: Omit<ScalarFunction, "kind" | "family">): ScalarFunction {
  return { kind: "scalar", family: "multi-value", ...declaration };
}

/** Reduces several values to one; a single value stays as it is. */
function reducingFunction(
  name: string,
  summary: string,
  parameter: typeof field | typeof numbers,
  pick: (list: Sql, type: DataType) => Sql,
): ScalarFunction {
  return declareMultiValue({
    name,
    summary,
    parameters: [parameter],
    returns: sameType,
    compile(call) {
      const value = argument(call, 0);
      return value.multi
        ? call.derive(pick(call.compiler.hoist(value).sql, call.type))
        : { ...value, type: call.type };
    },
  });
}

/** Maps several values to several. */
function mapValues(call: Call, list: (values: Sql) => Sql): Typed {
  const values = call.compiler.asList(argument(call, 0));
  return { ...call.derive(list(call.compiler.hoist(values).sql)), multi: true };
}

export const multiValueFunctions: readonly ScalarFunction[] = [
  declareMultiValue({
    name: "mv_append",
    summary: "The values of one and then those of the other.",
    parameters: [
      { ...field, name: "field1" },
      { ...field, name: "field2" },
    ],
    returns: sameType,
    compile: append,
  }),
  declareMultiValue({
    name: "mv_avg",
    summary: "The average of the values.",
    parameters: [numbers],
    returns: "double",
    compile(call) {
      const value = argument(call, 0);
      return call.derive(value.multi ? sql`list_avg(${value.sql})` : sql`CAST(${value.sql} AS DOUBLE)`);
    },
  }),
  declareMultiValue({
    name: "mv_concat",
    summary: "The strings as one, with a delimiter between them.",
    parameters: [
      { name: "string", types: typeSets.string, multi: true },
      { name: "delim", types: typeSets.string },
    ],
    returns: "keyword",
    compile(call) {
      const value = argument(call, 0);
      const delimiter = call.compiler.hoist(argument(call, 1)).sql;
      const text = value.multi
        ? sql`list_reduce(${value.sql}, lambda a, b: a || ${delimiter} || b)`
        : value.sql;
      return call.derive(sql`CASE WHEN ${delimiter} IS NOT NULL THEN ${text} END`);
    },
  }),
  declareMultiValue({
    name: "mv_count",
    summary: "How many values there are.",
    parameters: [field],
    returns: "integer",
    compile(call) {
      const value = argument(call, 0);
      return call.derive(
        value.multi
          ? sql`CAST(len(${value.sql}) AS INTEGER)`
          : sql`CASE WHEN ${value.sql} IS NOT NULL THEN CAST(1 AS INTEGER) END`,
      );
    },
  }),
  declareMultiValue({
    name: "mv_dedupe",
    summary: "The values, each once, in their order.",
    parameters: [field],
    returns: sameType,
    compile: (call) => mapValues(call, (list) => sql`list_sort(list_distinct(${list}))`),
  }),
  reducingFunction("mv_first", "The first value.", field, (list) => sql`${list}[1]`),
  reducingFunction("mv_last", "The last value.", field, (list) => sql`${list}[-1]`),
  reducingFunction("mv_max", "The greatest value.", field, (list) => sql`list_max(${list})`),
  reducingFunction("mv_median", "The value in the middle; of two, their average.", numbers, median),
  reducingFunction("mv_min", "The least value.", field, (list) => sql`list_min(${list})`),
  declareMultiValue({
    name: "mv_slice",
    summary:
      "The values from one place to another, both included; places from 0, negative ones from the end.",
    parameters: [
      field,
      { name: "start", types: typeSets.integer },
      { name: "end", types: typeSets.integer, optional: true },
    ],
    returns: sameType,
    compile: slice,
  }),
  declareMultiValue({
    name: "mv_sort",
    summary: "The values in order: `ASC` (the default) or `DESC`.",
    parameters: [field, { name: "order", types: typeSets.string, optional: true }],
    returns: sameType,
    compile: sort,
  }),
  declareMultiValue({
    name: "mv_sum",
    summary: "The sum of the values.",
    parameters: [numbers],
    returns: ([type = "double"]) => type,
    compile(call) {
      const value = argument(call, 0);
      if (!value.multi) return value;
      const sum = call.derive(sql`CAST(list_sum(${value.sql}) AS ${sqlType(call.type)})`);
      const kind = call.type === "integer" ? "integer" : "long";
      return call.type === "double"
        ? sum
        : call.compiler.attempt(sum, [value], `java.lang.ArithmeticException: ${kind} overflow`);
    },
  }),
  declareMultiValue({
    name: "mv_zip",
    summary: "Pairs of the strings of two arguments, with a delimiter (default `,`) between them.",
    parameters: [
      { name: "string1", types: typeSets.string, multi: true },
      { name: "string2", types: typeSets.string, multi: true },
      { name: "delim", types: typeSets.string, optional: true },
    ],
    returns: "keyword",
    takesNull: true,
    compile: zip,
  }),
];

function append(call: Call): Typed {
  const { compiler, at } = call;
  const [first, second] = [argument(call, 0), argument(call, 1)];
  const anyNull = first.type === "null" || second.type === "null";
  if (!anyNull && !sameKind(call, second.type, first.type)) {
    compiler.problems.mismatch(
      at,
      `second argument of [${compiler.text(at)}] must be [${first.type}], found value [${compiler.text(second.at)}] type [${second.type}]`,
    );
    return unknownTyped(at);
  }
  const a = compiler.hoist(compiler.asList(first)).sql;
  const b = compiler.hoist(compiler.asList(second)).sql;
  return {
    ...call.derive(sql`CASE WHEN ${a} IS NOT NULL AND ${b} IS NOT NULL THEN list_concat(${a}, ${b}) END`),
    multi: true,
  };
}

/** In the type of the values: the median of integers is an integer. */
function median(list: Sql, type: DataType): Sql {
  if (type === "double") return sql`list_median(${list})`;
  const sorted = sql`list_sort(${list})`;
  const middle = sql`len(${list})`;
  const pair = sql`(CAST(${sorted}[${middle} // 2] AS HUGEINT) + CAST(${sorted}[${middle} // 2 + 1] AS HUGEINT))`;
  const average = sql`CASE WHEN ${pair} >= 0 OR ${pair} % 2 = 0 THEN ${pair} // 2 ELSE ${pair} // 2 - 1 END`;
  return sql`CAST(CASE WHEN ${middle} % 2 = 1 THEN ${sorted}[${middle} // 2 + 1] ELSE ${average} END AS ${sqlType(type)})`;
}

function slice(call: Call): Typed {
  const { compiler } = call;
  const start = compiler.hoist(argument(call, 1)).sql;
  const given = call.args[2];
  const end = given ? compiler.hoist(given).sql : start;
  refuseConstantBounds(call);
  const greater = sql`${start} > ${end}`;
  const wrong = sql`(${greater} OR (${start} < 0 AND ${end} >= 0))`;
  const message = sql`${INVALID} || CASE WHEN ${greater} THEN ${START_GREATER} ELSE ${SIGNS_DIFFER} END`;
  compiler.pipeline.check(call.at, sql`${argument(call, 0).sql} IS NOT NULL AND ${wrong}`, message);
  return mapValues(call, (list) => {
    const from = sql`(CASE WHEN ${start} < 0 THEN greatest(len(${list}) + ${start}, 0) ELSE ${start} END)`;
    const to = sql`(CASE WHEN ${end} < 0 THEN len(${list}) + ${end} ELSE ${end} END)`;
    const part = sql`${list}[${from} + 1:${to} + 1]`;
    return sql`CASE WHEN NOT ${wrong} AND ${to} >= ${from} AND ${from} < len(${list}) THEN ${part} END`;
  });
}

const INVALID = "org.elasticsearch.xpack.esql.core.InvalidArgumentException: ";
const START_GREATER = "Start offset is greater than end offset";
const SIGNS_DIFFER = "Start and end offset have different signs";

/** @throws VendorError for constant bounds that are invalid for any row */
function refuseConstantBounds(call: Call): void {
  if (!call.args[2]) return;
  const [start, end] = [1, 2].map((index) => constantArgument(call, index));
  if (start?.type !== "integer" || end?.type !== "integer") return;
  if (start.value > end.value) throw invalidArgument(START_GREATER);
  if (start.value < 0n && end.value >= 0n) throw invalidArgument(SIGNS_DIFFER);
}

function sort(call: Call): Typed {
  const { compiler, at } = call;
  const order = call.args[1];
  const constant = order && constantArgument(call, 1);
  if (order && !constant) {
    compiler.problems.mismatch(
      order.at,
      `second argument of [${compiler.text(at)}] must be a constant, received [${compiler.text(order.at)}]`,
    );
    return unknownTyped(at);
  }
  const descending = constant?.type === "keyword" && constant.value.toUpperCase() === "DESC";
  return mapValues(call, (list) => sql`list_sort(${list}, ${raw(descending ? "'DESC'" : "'ASC'")})`);
}

function zip(call: Call): Typed {
  const { compiler } = call;
  const delimiter = call.args[2] ? compiler.hoist(call.args[2]).sql : raw("','");
  const [a, b] = [argument(call, 0), argument(call, 1)].map((value) =>
    value.type === "null" ? raw("CAST(NULL AS VARCHAR[])") : compiler.hoist(compiler.asList(value)).sql,
  ) as [Sql, Sql];
  const length = sql`greatest(len(${a}), len(${b}))`;
  const pair = sql`CASE WHEN i > coalesce(len(${a}), 0) THEN ${b}[i] WHEN i > coalesce(len(${b}), 0) THEN ${a}[i] ELSE ${a}[i] || ${delimiter} || ${b}[i] END`;
  const pairs = sql`list_transform(range(1, ${length} + 1), lambda i: ${pair})`;
  const given = sql`${delimiter} IS NOT NULL AND (${a} IS NOT NULL OR ${b} IS NOT NULL)`;
  return { ...call.derive(sql`CASE WHEN ${given} THEN ${pairs} END`), multi: true };
}

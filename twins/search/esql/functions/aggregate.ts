/** Functions of STATS. Values of a row that has several count one by one. */
import { raw, type Sql, sql } from "../../../datasets/sql.ts";
import { UnrecognisedEsql } from "../errors.ts";
import { anyOf, type DataType, sqlType, typeSets } from "../types.ts";
import { type AggregateFunction, argument, type Call, sameType } from "./declaration.ts";

const numeric = { ...typeSets.signed, label: "numeric except unsigned_long or counter types" };
const comparable = anyOf(
  "boolean, datetime, ip or numeric except unsigned_long or counter types",
  typeSets.boolean,
  typeSets.datetime,
  typeSets.ip,
  typeSets.signed,
);

/** `aggregate(values)`; a list's values one by one. */
function over(call: Call, aggregate: (values: Sql) => Sql, list: (values: Sql) => Sql): Sql {
  const value = argument(call, 0);
  return value.multi
    ? list(sql`flatten(list(${value.sql}) FILTER (WHERE ${value.sql} IS NOT NULL))`)
    : aggregate(value.sql);
}

function aggregateOf(name: string): (call: Call) => Sql {
  const called = raw(name);
  return (call) =>
    over(
      call,
      (value) => sql`${called}(${value})`,
      (values) => sql`list_aggregate(${values}, ${raw(`'${name}'`)})`,
    );
}

function declared(declaration: Omit<AggregateFunction, "kind" | "family">): AggregateFunction {
  return { kind: "aggregate", family: "aggregate", ...declaration };
}

/** A constant of a whole number, as an argument must be. */
function constantNumber(call: Call, index: number): number {
  const { constant, at } = argument(call, index);
  if (
    constant &&
    "value" in constant &&
    (typeof constant.value === "bigint" || typeof constant.value === "number")
  ) {
    return Number(constant.value);
  }
  throw new UnrecognisedEsql(at, "an argument that is no constant");
}

const value = {
  name: "value",
  types: { ...typeSets.any, label: "any type except counter types" },
  multi: true,
} as const;
const number = { name: "number", types: numeric, multi: true } as const;

export const aggregateFunctions: readonly AggregateFunction[] = [
  declared({
    name: "count",
    summary: "How many values there are; with `*`, how many rows.",
    parameters: [{ ...value, optional: true }],
    returns: "long",
    compile(call) {
      const [given] = call.args;
      if (!given) return raw("count(*)");
      return given.multi
        ? sql`CAST(coalesce(sum(len(${given.sql})), 0) AS BIGINT)`
        : sql`count(${given.sql})`;
    },
  }),
  declared({
    name: "count_distinct",
    summary: "How many different values there are; exactly, whatever the precision.",
    parameters: [
      {
        ...value,
        types: {
          ...anyOf(
            "any exact type except unsigned_long, or counter types",
            typeSets.boolean,
            typeSets.string,
            typeSets.signed,
            typeSets.datetime,
            typeSets.ip,
            { label: "version", types: new Set<DataType>(["version"]) },
          ),
        },
      },
      { name: "precision", types: typeSets.wholeOrUnsigned, optional: true },
    ],
    returns: "long",
    compile: (call) =>
      over(
        call,
        (values) => sql`count(DISTINCT ${values})`,
        (values) => sql`CAST(coalesce(len(list_distinct(${values})), 0) AS BIGINT)`,
      ),
  }),
  declared({
    name: "sum",
    summary: "The sum.",
    parameters: [number],
    returns: ([type]) => (type === "double" ? "double" : "long"),
    compile(call) {
      const total = aggregateOf("sum")(call);
      return sql`TRY_CAST(${total} AS ${sqlType(call.type)})`;
    },
  }),
  declared({
    name: "avg",
    summary: "The average.",
    parameters: [number],
    returns: "double",
    compile: aggregateOf("avg"),
  }),
  declared({
    name: "min",
    summary: "The least value.",
    parameters: [{ ...value, types: comparable }],
    returns: sameType,
    compile: aggregateOf("min"),
  }),
  declared({
    name: "max",
    summary: "The greatest value.",
    parameters: [{ ...value, types: comparable }],
    returns: sameType,
    compile: aggregateOf("max"),
  }),
  declared({
    name: "median",
    summary: "The value half of the values are below of; exact.",
    parameters: [number],
    returns: "double",
    compile: (call) => percentile(call, 50),
  }),
  declared({
    name: "percentile",
    summary: "The value that a percentage of the values are below of; exact.",
    parameters: [
      number,
      { name: "percentile", types: { ...typeSets.signed, label: "numeric except unsigned_long" } },
    ],
    returns: "double",
    compile: (call) => percentile(call, constantNumber(call, 1)),
  }),
  declared({
    name: "median_absolute_deviation",
    summary: "The median of the distances from the median; exact.",
    parameters: [number],
    returns: "double",
    compile: (call) =>
      over(
        call,
        (values) => sql`mad(CAST(${values} AS DOUBLE))`,
        (values) => sql`list_aggregate(CAST(${values} AS DOUBLE[]), 'mad')`,
      ),
  }),
  declared({
    name: "values",
    summary: "All different values, in their order.",
    parameters: [value],
    returns: sameType,
    multi: true,
    compile: (call) =>
      over(
        call,
        (values) => sql`list_sort(list(DISTINCT ${values}) FILTER (WHERE ${values} IS NOT NULL))`,
        (values) => sql`list_sort(list_distinct(${values}))`,
      ),
  }),
  declared({
    name: "top",
    summary: "The first values in ascending (`asc`) or descending (`desc`) order, repeated ones included.",
    parameters: [
      { ...value, types: comparable },
      { name: "limit", types: typeSets.integer },
      { name: "order", types: typeSets.string },
    ],
    returns: sameType,
    multi: true,
    compile: topValues,
  }),
  declared({
    name: "weighted_avg",
    summary: "The average, each number counted by its weight.",
    parameters: [
      { name: "number", types: numeric },
      { name: "weight", types: numeric },
    ],
    returns: "double",
    compile(call) {
      const weight = sql`CAST(${argument(call, 1).sql} AS DOUBLE)`;
      const weighted = sql`sum(CAST(${argument(call, 0).sql} AS DOUBLE) * ${weight})`;
      return sql`(${weighted} / nullif(sum(${weight}), 0))`;
    },
  }),
];

function percentile(call: Call, percent: number): Sql {
  const fraction = sql`CAST(${Math.min(Math.max(percent, 0), 100) / 100} AS DOUBLE)`;
  return over(
    call,
    (values) => sql`quantile_cont(CAST(${values} AS DOUBLE), ${fraction})`,
    (values) => sql`list_aggregate(CAST(${values} AS DOUBLE[]), 'quantile_cont', ${fraction})`,
  );
}

function topValues(call: Call): Sql {
  const { compiler, at } = call;
  const limit = constantNumber(call, 1);
  const { constant } = argument(call, 2);
  const order = constant?.type === "keyword" ? constant.value.toLowerCase() : "";
  if (limit <= 0)
    compiler.problems.mismatch(
      at,
      `Limit must be greater than 0 in [${compiler.text(at)}], found [${limit}]`,
    );
  if (order !== "asc" && order !== "desc") {
    const found = constant?.type === "keyword" ? constant.value : "null";
    compiler.problems.mismatch(
      at,
      `Invalid order value in [${compiler.text(at)}], expected [ASC, DESC] but got [${found}]`,
    );
  }
  const direction = raw(order === "asc" ? "ASC" : "DESC");
  const count = sql`CAST(${BigInt(limit)} AS BIGINT)`;
  return over(
    call,
    (values) =>
      sql`list(${values} ORDER BY ${values} ${direction}) FILTER (WHERE ${values} IS NOT NULL)[1:${count}]`,
    (values) => sql`list_sort(${values}, ${raw(order === "asc" ? "'ASC'" : "'DESC'")})[1:${count}]`,
  );
}

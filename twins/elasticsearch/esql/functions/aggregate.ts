/** Aggregate functions of STATS. Several values of a row count one by one. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Constant } from "../typed.ts";
import { anyOf, type DataType, sqlType, typeSets } from "../types.ts";
import { type AggregateFunction, argument, type Call, constantArgument, sameType } from "./declaration.ts";

const numeric = { ...typeSets.signed, label: "numeric except unsigned_long or counter types" };
const comparable = anyOf(
  "datetime or numeric except unsigned_long or counter types",
  typeSets.datetime,
  typeSets.signed,
);

/** `aggregate(values)`, or its form for lists. */
function aggregateOver(call: Call, aggregate: (values: Sql) => Sql, list: (values: Sql) => Sql): Sql {
  const given = argument(call, 0);
  const value =
    given.type === "null" ? { ...given, sql: sql`CAST(${given.sql} AS ${sqlType("double")})` } : given;
  return value.multi
    ? list(sql`flatten(list(${value.sql}) FILTER (WHERE ${value.sql} IS NOT NULL))`)
    : aggregate(value.sql);
}

function aggregateOf(name: string): (call: Call) => Sql {
  const called = raw(name);
  return (call) =>
    aggregateOver(
      call,
      (value) => sql`${called}(${value})`,
      (values) => sql`list_aggregate(${values}, ${raw(`'${name}'`)})`,
    );
}

function declareAggregate(declaration: Omit<AggregateFunction, "kind" | "family">): AggregateFunction {
  return { kind: "aggregate", family: "aggregate", ...declaration };
}

/** A constant argument; `undefined` after a problem was reported. */
function requiredConstant(call: Call, index: 1 | 2): Exclude<Constant, { type: "null" }> | undefined {
  const { compiler, at, nodes } = call;
  const node = nodes[index];
  const constant = node && compiler.isFoldable(node) ? constantArgument(call, index) : undefined;
  if (constant && constant.type !== "null") return constant;
  const problem = constant ? "cannot be null" : "must be a constant";
  compiler.problems.mismatch(
    at,
    `${index === 1 ? "second" : "third"} argument of [${compiler.text(at)}] ${problem}, received [${compiler.text(argument(call, index).at)}]`,
  );
  return undefined;
}

/** A placeholder in the statement of a query that is refused anyway. */
const nothing = raw("NULL");

/** Compiles a constant argument: `list` for a list of constants, `single` for one. */
function compileConstant(single: (value: Sql) => Sql, list: (values: Sql) => Sql): (call: Call) => Sql {
  return (call) => {
    const { multi, sql: given, type } = argument(call, 0);
    if (multi) return list(given);
    return single(type === "null" ? sql`CAST(${given} AS ${sqlType(call.type)})` : given);
  };
}

const value = {
  name: "value",
  types: { ...typeSets.any, label: "any type except counter types" },
  multi: true,
} as const;
const number = { name: "number", types: numeric, multi: true } as const;

export const aggregateFunctions: readonly AggregateFunction[] = [
  declareAggregate({
    name: "count",
    summary: "How many values there are; with `*`, how many rows.",
    parameters: [{ ...value, optional: true }],
    returns: "long",
    ofConstant: (call) =>
      argument(call, 0).multi
        ? sql`(len(${argument(call, 0).sql}) * count(*))`
        : sql`count(${argument(call, 0).sql})`,
    compile(call) {
      const [given] = call.args;
      if (!given) return raw("count(*)");
      return given.multi
        ? sql`CAST(coalesce(sum(len(${given.sql})), 0) AS BIGINT)`
        : sql`count(${given.sql})`;
    },
  }),
  declareAggregate({
    name: "count_distinct",
    summary: "How many different values there are; exactly, whatever the precision.",
    parameters: [
      {
        ...value,
        types: {
          ...anyOf(
            "any exact type except unsigned_long, _source, or counter types",
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
    ofConstant: compileConstant(
      (value) => sql`CAST(CASE WHEN ${value} IS NULL THEN 0 ELSE 1 END AS BIGINT)`,
      (values) => sql`CAST(len(list_distinct(${values})) AS BIGINT)`,
    ),
    compile: (call) =>
      aggregateOver(
        call,
        (values) => sql`count(DISTINCT ${values})`,
        (values) => sql`CAST(coalesce(len(list_distinct(${values})), 0) AS BIGINT)`,
      ),
  }),
  declareAggregate({
    name: "sum",
    summary: "The sum.",
    parameters: [number],
    returns: ([type]) => (type === "double" || type === "null" ? "double" : "long"),
    ofConstant(call) {
      const value = compileConstant(
        (one) => one,
        (values) => sql`list_sum(${values})`,
      )(call);
      // A 64-bit product would overflow before the sum could be checked.
      const wide = raw(call.type === "double" ? "DOUBLE" : "HUGEINT");
      return sql`TRY_CAST(CAST(${value} AS ${wide}) * count(*) AS ${sqlType(call.type)})`;
    },
    compile(call) {
      const total = aggregateOf("sum")(call);
      return sql`TRY_CAST(${total} AS ${sqlType(call.type)})`;
    },
  }),
  declareAggregate({
    name: "avg",
    summary: "The average.",
    parameters: [number],
    returns: "double",
    ofConstant: compileConstant(
      (value) => sql`CAST(${value} AS DOUBLE)`,
      (values) => sql`list_avg(${values})`,
    ),
    compile: aggregateOf("avg"),
  }),
  declareAggregate({
    name: "min",
    summary: "The least value.",
    parameters: [{ ...value, types: comparable, refusedAs: "call" }],
    returns: sameType,
    ofConstant: compileConstant(
      (value) => value,
      (values) => sql`list_min(${values})`,
    ),
    compile: aggregateOf("min"),
  }),
  declareAggregate({
    name: "max",
    summary: "The greatest value.",
    parameters: [{ ...value, types: comparable, refusedAs: "call" }],
    returns: sameType,
    ofConstant: compileConstant(
      (value) => value,
      (values) => sql`list_max(${values})`,
    ),
    compile: aggregateOf("max"),
  }),
  declareAggregate({
    name: "median",
    summary: "The value half of the values are below of; exact.",
    parameters: [number],
    returns: "double",
    ofConstant: compileConstant(
      (value) => sql`CAST(${value} AS DOUBLE)`,
      (values) => sql`list_median(CAST(${values} AS DOUBLE[]))`,
    ),
    compile: (call) => percentile(call, 50),
  }),
  declareAggregate({
    name: "percentile",
    summary:
      "The value that a percentage of the values are below of, the percentage cut to a whole one; exact.",
    parameters: [
      { ...number, types: { ...typeSets.signed, label: "numeric except unsigned_long" } },
      { name: "percentile", types: typeSets.numeric },
    ],
    returns: "double",
    compile(call) {
      const percent = requiredConstant(call, 1);
      return percent ? percentile(call, Math.trunc(Number(percent.value))) : nothing;
    },
  }),
  declareAggregate({
    name: "median_absolute_deviation",
    summary: "The median of the distances from the median; exact.",
    parameters: [number],
    returns: "double",
    compile: (call) =>
      aggregateOver(
        call,
        (values) => sql`mad(CAST(${values} AS DOUBLE))`,
        (values) => sql`list_aggregate(CAST(${values} AS DOUBLE[]), 'mad')`,
      ),
  }),
  declareAggregate({
    name: "values",
    summary: "All different values, in their order.",
    parameters: [value],
    returns: sameType,
    multi: true,
    compile: (call) =>
      aggregateOver(
        call,
        (values) => sql`list_sort(list(DISTINCT ${values}) FILTER (WHERE ${values} IS NOT NULL))`,
        (values) => sql`list_sort(list_distinct(${values}))`,
      ),
  }),
  declareAggregate({
    name: "top",
    summary: "The first values in ascending (`asc`) or descending (`desc`) order, repeated ones included.",
    parameters: [
      { ...value, types: { ...comparable, label: "numeric except unsigned_long or counter types" } },
      { name: "limit", types: typeSets.integer },
      { name: "order", types: typeSets.string },
    ],
    returns: sameType,
    multi: true,
    compile: topValues,
  }),
  declareAggregate({
    name: "weighted_avg",
    summary: "The average, each number counted by its weight.",
    parameters: [number, { ...number, name: "weight" }],
    returns: "double",
    ofConstant: compileConstant(
      (value) => sql`CAST(${value} AS DOUBLE)`,
      (values) => sql`list_avg(${values})`,
    ),
    compile: weightedAverage,
  }),
];

function percentile(call: Call, percent: number): Sql {
  if (percent < 0 || percent > 100) return sql`CAST(NULL AS DOUBLE)`;
  const fraction = sql`CAST(${percent / 100} AS DOUBLE)`;
  return aggregateOver(
    call,
    (values) => sql`quantile_cont(CAST(${values} AS DOUBLE), ${fraction})`,
    (values) => sql`list_aggregate(CAST(${values} AS DOUBLE[]), 'quantile_cont', ${fraction})`,
  );
}

/**
 * Constant weights cancel out. Of several values none is weighted, yet each weight counts, as in the vendor's quotient
 * of two sums.
 */
function weightedAverage(call: Call): Sql {
  checkWeight(call);
  const { compiler, nodes, at } = call;
  if (nodes[1] && compiler.isFoldable(nodes[1])) return aggregateOf("avg")(call);
  const weight = compiler.hoist(argument(call, 1));
  const factors = [compiler.single(argument(call, 0), at), compiler.single(weight, at)];
  const product = joined(
    factors.map(({ sql: factor }) => sql`CAST(${factor} AS DOUBLE)`),
    " * ",
  );
  const weights = weight.multi ? sql`list_sum(${weight.sql})` : weight.sql;
  return sql`(sum(${product}) / nullif(sum(CAST(${weights} AS DOUBLE)), 0))`;
}

/** @throws VendorError for a constant weight of zero or null */
function checkWeight(call: Call): void {
  const { compiler, at, nodes } = call;
  if (!nodes[1] || !compiler.isFoldable(nodes[1])) return;
  const weight = constantArgument(call, 1);
  if (!weight || (weight.type !== "null" && Number(weight.value) !== 0)) return;
  compiler.problems.mismatch(
    at,
    `second argument of [${compiler.text(at)}] cannot be null or 0, received [${weight.type === "null" ? "null" : Number(weight.value)}]`,
  );
}

function topValues(call: Call): Sql {
  const { compiler, at } = call;
  const [given, named] = [requiredConstant(call, 1), requiredConstant(call, 2)];
  if (!given || !named) return nothing;
  const [limit, order] = [Number(given.value), String(named.value).toLowerCase()];
  if (limit <= 0)
    compiler.problems.mismatch(
      at,
      `Limit must be greater than 0 in [${compiler.text(at)}], found [${limit}]`,
    );
  else if (order !== "asc" && order !== "desc") {
    compiler.problems.mismatch(
      at,
      `Invalid order value in [${compiler.text(at)}], expected [ASC, DESC] but got [${String(named.value)}]`,
    );
  }
  const direction = raw(order === "asc" ? "ASC" : "DESC");
  const count = sql`CAST(${BigInt(limit)} AS BIGINT)`;
  return aggregateOver(
    call,
    (values) =>
      sql`list(${values} ORDER BY ${values} ${direction}) FILTER (WHERE ${values} IS NOT NULL)[1:${count}]`,
    (values) => sql`list_sort(${values}, ${raw(order === "asc" ? "'ASC'" : "'DESC'")})[1:${count}]`,
  );
}

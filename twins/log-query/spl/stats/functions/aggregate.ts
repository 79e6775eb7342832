/** Counts, sums, averages, spread and percentiles. */
import { type Sql, sql } from "../../../../datasets/sql.ts";
import { bound, variable } from "../../typed.ts";
import type { Values } from "../values.ts";
import { number, type StatsFunction } from "./declaration.ts";

type Entry = Omit<StatsFunction, "numeric">;

const numeric: readonly Entry[] = [
  {
    name: "sum",
    syntax: "sum(field)",
    summary: "The sum of the numbers.",
    compile: (values) => number(values.onNumbers("fsum")),
  },
  {
    name: "sumsq",
    syntax: "sumsq(field)",
    summary: "The sum of the squares of the numbers.",
    compile: (values) => number(values.sumOfSquares),
  },
  {
    name: "avg",
    aliases: ["mean"],
    syntax: "avg(field)",
    summary: "The average of the numbers.",
    compile: (values) => number(values.onNumbers("favg")),
  },
  {
    name: "range",
    syntax: "range(field)",
    summary: "What the greatest number is more than the least.",
    compile: (values) => number(sql`(${values.onNumbers("max")} - ${values.onNumbers("min")})`),
  },
  {
    name: "stdev",
    syntax: "stdev(field)",
    summary: "The sample standard deviation of the numbers; 0 for one number.",
    compile: (values) => number(ofSample(values, "stddev_samp")),
  },
  {
    name: "stdevp",
    syntax: "stdevp(field)",
    summary: "The population standard deviation of the numbers.",
    compile: (values) => number(values.onNumbers("stddev_pop")),
  },
  {
    name: "var",
    syntax: "var(field)",
    summary: "The sample variance of the numbers; 0 for one number.",
    compile: (values) => number(ofSample(values, "var_samp")),
  },
  {
    name: "varp",
    syntax: "varp(field)",
    summary: "The population variance of the numbers.",
    compile: (values) => number(values.onNumbers("var_pop")),
  },
  {
    name: "median",
    syntax: "median(field)",
    summary: "The number in the middle; the greater of two.",
    compile: (values) => number(percentile(values, 50)),
  },
  {
    name: "perc<n>",
    prefixes: ["p", "perc", "exactperc", "upperperc"],
    syntax: "perc<n>(field), p<n>(field), exactperc<n>(field), upperperc<n>(field)",
    summary: "The number that n of 100 are less than, by nearest rank; always exact.",
    compile: (values, { parameter }) => number(percentile(values, parameter)),
  },
];

const others: readonly Entry[] = [
  {
    name: "count",
    aliases: ["c"],
    syntax: "count, count(field)",
    summary: "How many rows, or values of a field.",
    compile: (values) => number(values.count),
  },
  {
    name: "dc",
    aliases: ["distinct_count", "estdc"],
    syntax: "dc(field), estdc(field)",
    summary: "How many different values; always exact.",
    compile: (values) => number(values.distinctCount),
  },
  {
    name: "estdc_error",
    syntax: "estdc_error(field)",
    summary: "What `estdc` is wrong by: 0, as it counts all.",
    compile: (values) => number(sql`(${values.count} * 0.0)`),
  },
  {
    name: "min",
    syntax: "min(field)",
    summary: "The least number, or the first text of values that are not all numbers.",
    compile: (values) => extreme(values, "least"),
  },
  {
    name: "max",
    syntax: "max(field)",
    summary: "The greatest number, or the last text of values that are not all numbers.",
    compile: (values) => extreme(values, "greatest"),
  },
  {
    name: "mode",
    syntax: "mode(field)",
    summary: "The value that is there most often; the first in the order of texts where several are.",
    compile: (values) => ({ type: "text", multi: false, sql: mode(values) }),
  },
];

export const aggregateFunctions: readonly StatsFunction[] = [
  ...numeric.map((entry) => ({ ...entry, numeric: true })),
  ...others.map((entry) => ({ ...entry, numeric: false })),
];

/** One number has no spread. */
function ofSample(values: Values, name: string): Sql {
  const alone = sql`CASE WHEN ${values.onNumbers("count")} = 1 THEN 0.0 END`;
  return sql`coalesce(${values.onNumbers(name)}, ${alone})`;
}

/**
 * Of n numbers in their order, the one at floor(n · percent / 100), from 0, or else the last. DuckDB takes the one at
 * ceil(n · q) − 1, which is the same for a q that is a little more.
 */
function percentile(values: Values, percent: number): Sql {
  const quantile = Math.min(1, percent / 100 + 1e-12);
  return values.onNumbers("quantile_disc", sql`CAST(${String(quantile)} AS DOUBLE)`);
}

function extreme(values: Values, end: "least" | "greatest") {
  if (values.type === "number") return number(values.extreme(end));
  const text = values.onTexts(end === "least" ? "min" : "max");
  return {
    type: "text" as const,
    multi: false,
    sql: sql`CASE WHEN ${values.others} = 0 THEN ${values.extreme(end)} ELSE ${text} END`,
  };
}

function mode(values: Values): Sql {
  const entry = variable();
  return bound(values.onTexts("histogram"), (counts) => {
    const ranked = sql`list_transform(map_entries(${counts}), lambda ${entry}: {'less': - CAST(${entry}.value AS BIGINT), 'value': ${entry}.key})`;
    return sql`(list_aggregate(${ranked}, 'min')).value`;
  });
}

/** Counts, sums, averages, spread and percentiles. */
import { type Sql, sql } from "@offhook/log-store/sql";
import { bound, variable } from "../../relation/typed.ts";
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
    summary:
      "The number in the middle; of two the mean, where an exact half counts as the next whole number.",
    compile: (values) => number(median(values)),
  },
  {
    name: "perc<n>",
    prefixes: ["p", "perc", "exactperc", "upperperc"],
    syntax: "perc<n>(field), p<n>(field), exactperc<n>(field), upperperc<n>(field)",
    summary:
      "The number that n of 100 are less than, in proportion between the two that are nearest; always exact.",
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
    summary: "The least number, or the first text where no value is a number.",
    compile: (values) => extreme(values, "least"),
  },
  {
    name: "max",
    syntax: "max(field)",
    summary: "The greatest number, or the last text where no value is a number.",
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

/** Of n numbers in their order, from 0, the one at (n − 1) · percent / 100; between two, in proportion: as a t-digest gives it. */
function percentile(values: Values, percent: number): Sql {
  return values.onNumbers("quantile_cont", sql`CAST(${String(percent / 100)} AS DOUBLE)`);
}

/** The mean of the two in the middle. splunkd shows no half between whole numbers: of 1 and 2 it gives 2. */
function median(values: Values): Sql {
  // DuckDB takes the number at ceil(n · q) − 1: a q that is a little more is that of the other one.
  const at = (quantile: string) => values.onNumbers("quantile_disc", sql`CAST(${quantile} AS DOUBLE)`);
  const mean = sql`((${at("0.5")} + ${at("0.500000000001")}) / 2)`;
  return bound(
    mean,
    (middle) =>
      sql`CASE WHEN ${middle} - floor(${middle}) = 0.5 AND ${at("0.5")} <> ${middle} THEN ceil(${middle}) ELSE ${middle} END`,
  );
}

function extreme(values: Values, end: "least" | "greatest") {
  if (values.type === "number") return number(values.extreme(end));
  const text = values.onTexts(end === "least" ? "min" : "max");
  return {
    type: "text" as const,
    multi: false,
    // Where there is a number, texts take no part.
    sql: sql`coalesce(${values.extreme(end)}, ${text})`,
  };
}

function mode(values: Values): Sql {
  const entry = variable();
  return bound(values.onTexts("histogram"), (counts) => {
    const ranked = sql`list_transform(map_entries(${counts}), lambda ${entry}: {'less': - CAST(${entry}.value AS BIGINT), 'value': ${entry}.key})`;
    return sql`(list_aggregate(${ranked}, 'min')).value`;
  });
}

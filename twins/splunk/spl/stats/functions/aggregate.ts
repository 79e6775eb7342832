/** Counts, sums, averages, spread and percentiles. */
import { type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce, lambdaParameter } from "../../relation/typed.ts";
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
    summary: "The difference between the greatest and the least number.",
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
      "The middle number, or the mean of the two middle ones; a half between whole numbers is rounded up.",
    compile: (values) => number(median(values)),
  },
  {
    name: "perc<n>",
    prefixes: ["p", "perc", "exactperc", "upperperc"],
    syntax: "perc<n>(field), p<n>(field), exactperc<n>(field), upperperc<n>(field)",
    summary: "The n-th percentile, interpolated linearly between the two nearest numbers; always exact.",
    compile: (values, { parameter }) => number(percentile(values, parameter)),
  },
];

const others: readonly Entry[] = [
  {
    name: "count",
    aliases: ["c"],
    syntax: "count, count(field)",
    summary: "The number of rows, or of a field's values.",
    compile: (values) => number(values.count),
  },
  {
    name: "dc",
    aliases: ["distinct_count", "estdc"],
    syntax: "dc(field), estdc(field)",
    summary: "The number of distinct values; always exact.",
    compile: (values) => number(values.distinctCount),
  },
  {
    name: "estdc_error",
    syntax: "estdc_error(field)",
    summary: "The error of `estdc`: 0, because it counts exactly.",
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
    summary: "The most frequent value; of several, the first in text order.",
    compile: (values) => ({ type: "text", multi: false, sql: mode(values) }),
  },
];

export const aggregateFunctions: readonly StatsFunction[] = [
  ...numeric.map((entry) => ({ ...entry, numeric: true })),
  ...others.map((entry) => ({ ...entry, numeric: false })),
];

/** A statistic of a sample, which is 0 for a single number. */
function ofSample(values: Values, name: string): Sql {
  const alone = sql`CASE WHEN ${values.onNumbers("count")} = 1 THEN 0.0 END`;
  return sql`coalesce(${values.onNumbers(name)}, ${alone})`;
}

/** Interpolates linearly at position (n − 1) · percent / 100 of the sorted numbers, as a t-digest does. */
function percentile(values: Values, percent: number): Sql {
  return values.onNumbers("quantile_cont", sql`CAST(${String(percent / 100)} AS DOUBLE)`);
}

/** The mean of the two middle values. splunkd rounds a half between whole numbers up: the median of 1 and 2 is 2. */
function median(values: Values): Sql {
  // quantile_disc takes the value at ceil(n · q) − 1: just above 0.5, that moves to the upper of the two middle values.
  const at = (quantile: string) => values.onNumbers("quantile_disc", sql`CAST(${quantile} AS DOUBLE)`);
  const mean = sql`((${at("0.5")} + ${at("0.500000000001")}) / 2)`;
  return bindOnce(
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
    // Texts count only when no value is a number.
    sql: sql`coalesce(${values.extreme(end)}, ${text})`,
  };
}

function mode(values: Values): Sql {
  const entry = lambdaParameter();
  return bindOnce(values.onTexts("histogram"), (counts) => {
    const ranked = sql`list_transform(map_entries(${counts}), lambda ${entry}: {'less': - CAST(${entry}.value AS BIGINT), 'value': ${entry}.key})`;
    return sql`(list_aggregate(${ranked}, 'min')).value`;
  });
}

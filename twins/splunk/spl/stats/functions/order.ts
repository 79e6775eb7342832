/** Functions that depend on order: of rows, of time, of texts. */
import { raw, sql } from "@offhook/log-store/sql";
import type { Values } from "../values.ts";
import { number, type StatsFunction, texts } from "./declaration.ts";

/** `limits.conf`: `list_maxsize`. */
const MAX_LIST = 100;

const at = (name: string, end: "first" | "last", order: "rows" | "time", summary: string): StatsFunction => ({
  name,
  syntax: `${name}(field)`,
  summary,
  numeric: false,
  compile: (values) => ({ type: values.type, multi: false, sql: values.at(end, order) }),
});

export const orderFunctions: readonly StatsFunction[] = [
  at("first", "first", "rows", "The value of the first row that has one."),
  at("last", "last", "rows", "The value of the last row that has one."),
  at("earliest", "first", "time", "The value of the earliest row that has one."),
  at("latest", "last", "time", "The value of the latest row that has one."),
  {
    name: "earliest_time",
    syntax: "earliest_time(field)",
    summary: "The time of the first value.",
    numeric: false,
    compile: (values) => number(values.time("first")),
  },
  {
    name: "latest_time",
    syntax: "latest_time(field)",
    summary: "The time of the last value.",
    numeric: false,
    compile: (values) => number(values.time("last")),
  },
  {
    name: "list",
    syntax: "list(field)",
    summary: `The first ${MAX_LIST} values in row order.`,
    numeric: false,
    compile: (values) => texts(values.inOrder(MAX_LIST)),
  },
  {
    name: "values",
    syntax: "values(field)",
    summary: "The distinct values, sorted as text.",
    numeric: false,
    compile: (values) => texts(sql`list_sort(${values.distinct})`),
  },
  ...["rate", "rate_avg", "rate_sum"].map(
    (name): StatsFunction => ({
      name,
      syntax: `${name}(field)`,
      summary: "Growth of a counter per second, between its first and last value.",
      numeric: true,
      compile: (values) => number(rate(values)),
    }),
  ),
  ...Object.entries({ second: 1, minute: 60, hour: 3_600, day: 86_400 }).map(
    ([unit, seconds]): StatsFunction => ({
      name: `per_${unit}`,
      syntax: `per_${unit}(field)`,
      summary: `The sum of the numbers per ${unit} of the rows' time span.`,
      numeric: true,
      compile: (values, { site }) =>
        number(sql`(${values.onNumbers("fsum")} * ${raw(String(seconds))} / nullif(${site.seconds}, 0))`),
    }),
  ),
];

function rate(values: Values) {
  const value = (end: "first" | "last") =>
    values.type === "number" ? values.at(end, "time") : sql`TRY_CAST(${values.at(end, "time")} AS DOUBLE)`;
  const seconds = sql`(${values.time("last")} - ${values.time("first")})`;
  return sql`((${value("last")} - ${value("first")}) / nullif(${seconds}, 0))`;
}

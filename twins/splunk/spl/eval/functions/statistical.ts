/** Statistical functions of one row. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce, mapList, numberOf, textOf } from "../../relation/typed.ts";
import { nothing, number, type Value } from "../value.ts";
import type { Use } from "./declaration.ts";
import { allValues, type Entry, family } from "./tools.ts";

const entries: readonly Entry[] = [
  {
    name: "avg",
    syntax: "avg(value1, …)",
    summary: "The average of the values that are numbers.",
    minArgs: 1,
    maxArgs: undefined,
    takesNull: true,
    compile: (args, use) => aggregateNumbers(args, use, "list_avg"),
  },
  {
    name: "max",
    syntax: "max(value1, …)",
    summary: "The largest value; texts are larger than numbers.",
    minArgs: 1,
    maxArgs: undefined,
    takesNull: true,
    compile: (args, use) => extreme(args, use, -1),
  },
  {
    name: "min",
    syntax: "min(value1, …)",
    summary: "The smallest value; numbers are smaller than texts.",
    minArgs: 1,
    maxArgs: undefined,
    takesNull: true,
    compile: (args, use) => extreme(args, use, 1),
  },
  {
    name: "random",
    syntax: "random()",
    summary: "A random integer from 0 to 2147483647, different in every row.",
    minArgs: 0,
    maxArgs: 0,
    compile: () => number(raw("CAST(floor(random() * 2147483648) AS BIGINT)")),
  },
];

const sum: Entry = {
  name: "sum",
  syntax: "sum(value1, …)",
  summary: "The sum of the values that are numbers.",
  minArgs: 1,
  maxArgs: undefined,
  takesNull: true,
  compile: (args, use) => aggregateNumbers(args, use, "list_sum"),
};

function aggregateNumbers(args: readonly Value[], { fail }: Use, aggregate: "list_sum" | "list_avg"): Value {
  // A literal text is rejected; a field's text counts if it is a number.
  if (args.some((value) => value.type === "boolean" || typeof value.constant === "string")) fail();
  const all = allValues(args);
  if (all.isNull) return nothing;
  const numbers = mapList(
    all.sql,
    (one) => sql`CAST(${numberOf({ type: all.type, multi: false, sql: one })} AS DOUBLE)`,
  );
  return number(sql`${raw(aggregate)}(list_filter(${numbers}, lambda "#n": "#n" IS NOT NULL))`);
}

/** @param place 1 for the least value, -1 for the greatest */
function extreme(args: readonly Value[], { fail }: Use, place: 1 | -1): Value {
  if (args.some((value) => value.type === "boolean")) fail();
  const known = args.filter(({ isNull }) => !isNull);
  if (known.length === 0) return nothing;
  if (known.every((value) => value.type === "number")) {
    const name = raw(place === 1 ? "list_min" : "list_max");
    return number(sql`${name}(${allValues(known).sql})`);
  }
  const lists = known.map((value) =>
    value.multi
      ? mapList(value.sql, (one) => rankedStruct({ ...value, multi: false, sql: one }))
      : sql`[${bindOnce(value.sql, (one) => rankedStruct({ ...value, sql: one }))}]`,
  );
  const all = lists.length === 1 ? (lists[0] ?? raw("[]")) : sql`list_concat(${joined(lists, ", ")})`;
  // DuckDB loses the struct type of a value that is NULL in every row.
  const typed = sql`CAST(${all} AS ${RANKED}[])`;
  const given = sql`list_filter(${typed}, lambda "#e": "#e".t IS NOT NULL)`;
  const value = sql`CAST(list_sort(${given})[${raw(String(place))}] AS ${RANKED}).t`;
  return {
    type: "text",
    multi: false,
    loose: known.some(({ loose, type }) => loose || type === "number"),
    sql: value,
  };
}

const RANKED = raw("STRUCT(k INTEGER, n DOUBLE, t VARCHAR)");

/** A struct that sorts numbers before texts. */
function rankedStruct(value: Value): Sql {
  const asText = textOf(value);
  if (value.type === "text" && !value.loose) {
    return sql`struct_pack(k := 1, n := CAST(0 AS DOUBLE), t := ${asText})`;
  }
  const asNumber = sql`CAST(${numberOf(value)} AS DOUBLE)`;
  return sql`struct_pack(k := CASE WHEN ${asNumber} IS NULL THEN 1 ELSE 0 END, n := coalesce(${asNumber}, 0), t := ${asText})`;
}

export const statisticalFunctions = [...family("statistical", entries), ...family("mathematical", [sum])];

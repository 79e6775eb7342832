/** Functions of multi-values. Positions count from 0; negative ones count from the end. */
import { findTimeZone } from "@offhook/log-store/dates/time-zone";
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { matchesSql } from "../../regex/regex-sql.ts";
import { bindOnce, lambdaParameter, listOf, mapList, textOf } from "../../relation/typed.ts";
import { parseRelativeTime, relativeTime } from "../../time/relative-time.ts";
import { zoneOf } from "../../time/zone-of.ts";
import { patternOf } from "../pattern-of.ts";
import { asList, constant, nothing, number, text } from "../value.ts";
import type { EvalFunction } from "./declaration.ts";
import { mvfilter, mvmap } from "./each-value.ts";
import { jsonArrayOf, valuesOfJsonArray } from "./json-arrays.ts";
import { listFromJson } from "./text.ts";
import {
  allValues,
  asText,
  constantText,
  type Entry,
  family,
  nullIfEmpty,
  numberArgument,
  textArgument,
  textList,
  toPosition,
} from "./tools.ts";

const MAX_RANGE = 1_000_000;

const timeRange = defineRowFunction("spl.mvrange", (start, end, step, zone) => {
  const steps = step === null ? undefined : parseRelativeTime(`+${step.replace(/^\+/, "")}`);
  const timeZone = findTimeZone(zone ?? "");
  if (start === null || end === null || steps === undefined || timeZone === undefined) return null;
  const times: number[] = [];
  for (let ms = Number(start) * 1000; ms < Number(end) * 1000 && times.length < MAX_RANGE; ) {
    times.push(ms / 1000);
    const next = relativeTime(ms, steps, timeZone);
    if (next === undefined || next <= ms) return null;
    ms = next;
  }
  return times.length === 0 ? null : JSON.stringify(times.map(String));
});

const entries: readonly Entry[] = [
  {
    name: "commands",
    syntax: "commands(search)",
    summary: "The names of the commands of a search.",
    minArgs: 1,
    maxArgs: 1,
    compile([search = nothing], { scope, fail }) {
      const given = constantText(search);
      if (given === undefined) return fail();
      const names = scope.context.parse(given).commands.map(({ name }) => name);
      return asList(text(listFromJson(sql`CAST(${JSON.stringify(names)} AS VARCHAR)`)));
    },
  },
  {
    name: "mvappend",
    syntax: "mvappend(value1, …)",
    summary: "All values in one multi-value; missing ones are left out.",
    minArgs: 1,
    maxArgs: undefined,
    takesNull: true,
    compile(values, { fail }) {
      if (values.some(({ type }) => type === "boolean")) fail();
      return allValues(values);
    },
  },
  {
    name: "mvcount",
    syntax: "mvcount(mv)",
    summary: "Number of values; null if there are none.",
    minArgs: 1,
    maxArgs: 1,
    compile([value = nothing]) {
      if (value.multi) return number(sql`len(${value.sql})`);
      return number(sql`CASE WHEN ${value.sql} IS NOT NULL THEN 1 END`);
    },
  },
  {
    name: "mvdedup",
    syntax: "mvdedup(mv)",
    summary: "The distinct values, in the order of their first occurrence.",
    minArgs: 1,
    maxArgs: 1,
    compile([value = nothing]) {
      if (!value.multi) return value;
      const [one, index] = [lambdaParameter(), lambdaParameter()];
      const list = bindOnce(
        value.sql,
        (all) => sql`list_filter(${all}, lambda ${one}, ${index}: list_position(${all}, ${one}) = ${index})`,
      );
      return { ...value, sql: list };
    },
  },
  {
    name: "mvfind",
    syntax: "mvfind(mv, regex)",
    summary: "The position of the first value that a regular expression matches; null if none does.",
    minArgs: 2,
    maxArgs: 2,
    compile([value = nothing, regex = nothing], use) {
      if (value.isNull || regex.isNull) return nothing;
      const pattern = patternOf(regex, use);
      const tests = mapList(textList(value), (one) => sql`coalesce(${matchesSql(one, pattern)}, FALSE)`);
      return number(sql`(nullif(list_position(${tests}, TRUE), 0) - 1)`);
    },
  },
  {
    name: "mvindex",
    syntax: "mvindex(mv, start, [end])",
    summary: "The value at a position, or the values from one position to another.",
    minArgs: 2,
    maxArgs: 3,
    compile([value = nothing, start = nothing, end], use) {
      const from = toPosition(numberArgument(start, use));
      const { sql: list, ...kind } = { ...value, sql: listOf(value) };
      if (end === undefined) {
        const single = bindOnce(
          from,
          (at) => sql`${list}[CASE WHEN ${at} >= 0 THEN ${at} + 1 ELSE ${at} END]`,
        );
        return { ...kind, multi: false, sql: single };
      }
      const part = bindOnce(list, (all) => {
        const place = (at: Sql) =>
          bindOnce(at, (one) => sql`CASE WHEN ${one} >= 0 THEN ${one} + 1 ELSE len(${all}) + ${one} + 1 END`);
        const [first, last] = [place(from), place(toPosition(numberArgument(end, use)))];
        return bindOnce(first, (a) =>
          bindOnce(last, (b) => sql`CASE WHEN ${a} >= 1 AND ${a} <= ${b} THEN ${all}[${a}:${b}] END`),
        );
      });
      return { ...kind, multi: true, sql: nullIfEmpty(part) };
    },
  },
  {
    name: "mvjoin",
    syntax: "mvjoin(mv, delimiter)",
    summary: "The values as one text, separated by a delimiter.",
    minArgs: 2,
    maxArgs: 2,
    compile([value = nothing, delimiter = nothing], use) {
      if (value.type === "boolean") use.fail();
      if (!value.multi) return { ...text(textOf(value)), loose: value.loose ?? false };
      const between = textArgument(delimiter, use);
      if (delimiter.constant !== undefined) return text(sql`array_to_string(${textOf(value)}, ${between})`);
      // DuckDB's array_to_string requires a constant delimiter.
      const [left, right] = [lambdaParameter(), lambdaParameter()];
      return text(
        sql`list_reduce(${textOf(value)}, lambda ${left}, ${right}: ${left} || ${between} || ${right})`,
      );
    },
  },
  {
    name: "mvrange",
    syntax: "mvrange(start, end, [step])",
    summary: "The numbers from one up to, and without, another; a step such as `7d` gives times.",
    minArgs: 2,
    maxArgs: 3,
    compile([start = nothing, end = nothing, step = constant(1)], use) {
      const [from, to] = [numberArgument(start, use), numberArgument(end, use)];
      if (step.type === "text") {
        const zone = sql`CAST(${zoneOf(use.scope.context.timeZone).id} AS VARCHAR)`;
        const times = listFromJson(timeRange(asText(from), asText(to), textArgument(step, use), zone));
        // Casts the list as a whole: DuckDB drops casts of single values when it knows the list to be NULL, and with them the type.
        return asList(number(sql`CAST(${times} AS DOUBLE[])`));
      }
      return asList(number(numbersBetween(from, to, numberArgument(step, use))));
    },
  },
  {
    name: "mvreverse",
    syntax: "mvreverse(mv)",
    summary: "The values in reverse order.",
    minArgs: 1,
    maxArgs: 1,
    compile: ([value = nothing]) =>
      value.multi ? { ...value, sql: sql`list_reverse(${value.sql})` } : value,
  },
  {
    name: "mvsort",
    syntax: "mvsort(mv)",
    summary: "The values in lexicographic order.",
    minArgs: 1,
    maxArgs: 1,
    compile([value = nothing]) {
      if (!value.multi) return value;
      return { ...asList(text(sql`list_sort(${textOf(value)})`)), loose: true };
    },
  },
  {
    name: "mvzip",
    syntax: "mvzip(mv1, mv2, [delimiter])",
    summary: "The values of both, joined in pairs; default delimiter: a comma.",
    minArgs: 2,
    maxArgs: 3,
    compile([first = nothing, second = nothing, delimiter = constant(",")], use) {
      const between = textArgument(delimiter, use);
      const pairs = sql`list_zip(${textList(first)}, ${textList(second)}, TRUE)`;
      const zipped = mapList(pairs, (pair) => sql`${pair}[1] || ${between} || ${pair}[2]`);
      return asList(
        text(sql`CASE WHEN ${first.sql} IS NOT NULL AND ${second.sql} IS NOT NULL THEN ${zipped} END`),
      );
    },
  },
  {
    name: "split",
    syntax: "split(text, delimiter)",
    summary: "The pieces of a text between delimiters; its characters if the delimiter is empty.",
    minArgs: 2,
    maxArgs: 2,
    compile([value = nothing, delimiter = nothing], use) {
      const by = textArgument(delimiter, use);
      if (value.type === "boolean") use.fail();
      const pieces = value.multi
        ? sql`flatten(${mapList(textOf(value), (one) => sql`string_split(${one}, ${by})`)})`
        : sql`string_split(${textOf(value)}, ${by})`;
      return { ...asList(text(pieces)), loose: true };
    },
  },
];

const jsonEntries: readonly Entry[] = [
  {
    name: "json_array_to_mv",
    syntax: "json_array_to_mv(json, [quotes])",
    summary: "The items of a JSON list as values; with `true`, texts keep their quotes.",
    minArgs: 1,
    maxArgs: 2,
    compile([json = nothing, quotes], use) {
      const quoted = quotes?.constant === true ? sql`'1'` : sql`'0'`;
      return { ...asList(text(valuesOfJsonArray(textArgument(json, use), quoted))), loose: true };
    },
  },
  {
    name: "mv_to_json_array",
    syntax: "mv_to_json_array(mv, [infer])",
    summary: "The values as a JSON list of texts; with `true`, values that are JSON are embedded as such.",
    minArgs: 1,
    maxArgs: 2,
    compile([value = nothing, infer], { fail }) {
      if (value.type === "boolean") fail();
      return text(jsonArrayOf(value, infer?.constant === true ? sql`'1'` : sql`'0'`));
    },
  },
];

function numbersBetween(from: Sql, to: Sql, step: Sql): Sql {
  return bindOnce(from, (a) =>
    bindOnce(step, (by) => {
      const count = sql`ceil((${to} - ${a}) / nullif(${by}, 0))`;
      const known = bindOnce(
        count,
        (n) =>
          sql`CASE WHEN ${n} > 0 AND ${n} <= ${raw(String(MAX_RANGE))} THEN range(CAST(${n} AS BIGINT)) END`,
      );
      return mapList(known, (n) => sql`${a} + ${n} * ${by}`);
    }),
  );
}

export const multivalueFunctions: readonly EvalFunction[] = [
  ...family("multivalue", entries),
  mvfilter,
  mvmap,
  ...family("JSON", jsonEntries),
];

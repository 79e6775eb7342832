/** Conversions of the `convert` command. */

import { findTimeZone } from "@offhook/log-store/dates/time-zone";
import { type Sql, sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import type { SearchContext } from "../context/search-context.ts";
import { bindOnce, mapList, numberOf, textOf } from "../relation/typed.ts";
import { formatTimeSql } from "../time/strftime-sql.ts";
import { parseTime } from "../time/strptime.ts";
import { zoneOf } from "../time/zone-of.ts";
import { number, text, type Value } from "./value.ts";

export const conversions = [
  "auto",
  "ctime",
  "dur2sec",
  "memk",
  "mktime",
  "mstime",
  "num",
  "rmcomma",
  "rmunit",
] as const;
export type Conversion = (typeof conversions)[number];

const mktime = defineRowFunction("spl.mktime", (given, format, zone, now) => {
  const timeZone = findTimeZone(zone ?? "");
  if (given === null || format === null || timeZone === undefined) return null;
  const seconds = parseTime(given, format, { zone: timeZone, nowMs: Number(now) });
  return seconds === undefined ? null : String(seconds);
});

/** `dur2sec`: seconds of `[days+]HH:MM:SS`. `memk`: kilobytes of `3m`. `mstime`: seconds of `MM:SS.SSS`. Each as the text of a number. */
const convertText = defineRowFunction("spl.convert", (given, kind) => {
  if (given === null) return null;
  const value =
    kind === "dur2sec" ? durationSeconds(given) : kind === "memk" ? kilobytes(given) : clockSeconds(given);
  return value === undefined ? null : String(value);
});

function durationSeconds(given: string): number | undefined {
  const match = /^\s*(?:(\d+)\+)?(\d{1,3}):(\d{1,2}):(\d{1,2}(?:\.\d+)?)\s*$/.exec(given);
  if (!match) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

const kilobytesOf = lookupTable<number>({ k: 1, m: 1024, g: 1024 * 1024 });

function kilobytes(given: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*([kmg])?b?$/i.exec(given.trim());
  return match ? Number(match[1]) * (kilobytesOf[(match[2] ?? "k").toLowerCase()] ?? 1) : undefined;
}

function clockSeconds(given: string): number | undefined {
  const match = /^\s*(?:(\d+):)?(\d+(?:\.\d+)?)\s*$/.exec(given);
  return match ? Number(match[1] ?? 0) * 60 + Number(match[2]) : undefined;
}

/** Converts a value. Unconvertible values stay unchanged, except that `num` removes them; `auto` converts all values of a field or none. */
export function convert(
  value: Value,
  conversion: Conversion,
  timeFormat: string,
  context: SearchContext,
): Value {
  if (conversion === "auto") return convertAuto(value);
  const texts = textOf(value);
  const each = (one: Sql) => convertOne(one, conversion, timeFormat, context);
  const result = value.multi ? mapList(texts, each) : bindOnce(texts, each);
  const { multi } = value;
  return conversion === "num"
    ? { ...number(result), multi }
    : { ...text(result), multi, loose: conversion !== "ctime" };
}

function convertOne(
  one: Sql,
  conversion: Exclude<Conversion, "auto">,
  timeFormat: string,
  context: SearchContext,
): Sql {
  const zone = zoneOf(context.timeZone);
  switch (conversion) {
    case "ctime":
      return sql`coalesce(${formatTimeSql(asNumber(one), timeFormat, zone)}, ${one})`;
    case "mktime": {
      const options = [timeFormat, zone.id, String(context.nowMs)].map(
        (option) => sql`CAST(${option} AS VARCHAR)`,
      );
      return sql`coalesce(${mktime(one, ...options)}, ${one})`;
    }
    case "num":
      return numberIn(one);
    case "rmcomma":
      return sql`replace(${one}, ',', '')`;
    case "rmunit":
      return sql`coalesce(${leadingNumber(one)}, ${one})`;
    default:
      return sql`coalesce(${convertText(one, sql`CAST(${conversion} AS VARCHAR)`)}, ${one})`;
  }
}

function asNumber(one: Sql): Sql {
  return numberOf({ type: "text", multi: false, sql: one });
}

/** The number at the beginning of a text. */
function leadingNumber(one: Sql): Sql {
  return sql`nullif(regexp_extract(${one}, '^\\s*([-+]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][-+]?\\d+)?)', 1), '')`;
}

/** The number that any of the conversions reads in a text. */
function numberIn(one: Sql): Sql {
  const withoutCommas = sql`CASE WHEN regexp_full_match(${one}, '[-+]?\\d{1,3}(,\\d{3})+(\\.\\d+)?') THEN TRY_CAST(replace(${one}, ',', '') AS DOUBLE) END`;
  const duration = sql`CAST(${convertText(one, sql`'dur2sec'`)} AS DOUBLE)`;
  const unit = sql`CAST(CASE WHEN regexp_full_match(${one}, '\\s*[-+]?[\\d.]+\\s*[A-Za-z%]+\\s*') THEN ${leadingNumber(one)} END AS DOUBLE)`;
  return sql`coalesce(${asNumber(one)}, ${withoutCommas}, ${duration}, ${unit})`;
}

function convertAuto(value: Value): Value {
  if (value.type === "number" || value.multi) return value;
  const result = bindOnce(textOf(value), (one) => {
    return sql`struct_pack(t := ${one}, n := ${numberIn(one)})`;
  });
  const all = sql`bool_and((${result}).n IS NOT NULL OR (${result}).t IS NULL) OVER ()`;
  return {
    ...text(sql`CASE WHEN ${all} THEN ${textOf(number(sql`(${result}).n`))} ELSE ${textOf(value)} END`),
    loose: true,
  };
}

/** Date and time functions. */
import { findTimeZone } from "@offhook/log-store/dates/time-zone";
import { sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { parseRelativeTime, relativeTime } from "../../time/relative-time.ts";
import { formatAnySql, formatTimeSql } from "../../time/strftime-sql.ts";
import { parseTime } from "../../time/strptime.ts";
import { zoneOf } from "../../time/zone-of.ts";
import { fieldPrecision, formatPlaces } from "../precision.ts";
import { constant, nothing, number, text, type Value } from "../value.ts";
import { asText, constantText, type Entry, family, numberArgument, textArgument } from "./tools.ts";

const relativeTimeText = defineRowFunction("spl.relative_time", (seconds, modifier, zone) => {
  const steps = modifier === null ? undefined : parseRelativeTime(modifier.trim());
  const timeZone = findTimeZone(zone ?? "");
  if (seconds === null || steps === undefined || timeZone === undefined) return null;
  const moment = relativeTime(Number(seconds) * 1000, steps, timeZone);
  return moment === undefined ? null : String(Math.round(moment * 1e3) / 1e6);
});

const strptimeText = defineRowFunction("spl.strptime", (given, format, zone, now) => {
  const timeZone = findTimeZone(zone ?? "");
  if (given === null || format === null || timeZone === undefined) return null;
  const seconds = parseTime(given, format, { zone: timeZone, nowMs: Number(now) });
  return seconds === undefined ? null : String(seconds);
});

/** Displays a computed time with six decimal places. */
function toMicroseconds(value: Value): Value {
  if (value.isNull) return value;
  const shown =
    typeof value.constant === "number"
      ? sql`CAST(${value.constant.toFixed(6)} AS VARCHAR)`
      : formatPlaces(value.sql, 6);
  return {
    ...value,
    displayText: shown,
    precision: fieldPrecision({ type: "text", multi: false, sql: shown }),
  };
}

export const timeFunctions = family("date and time", [
  {
    name: "now",
    syntax: "now()",
    summary: "The start of the search, in seconds since the epoch.",
    minArgs: 0,
    maxArgs: 0,
    compile: (_, { scope }) => constant(Math.floor(scope.context.nowMs / 1000)),
  },
  {
    name: "relative_time",
    syntax: "relative_time(time, modifier)",
    summary: "A time moved by a relative time modifier: `-1d@d`.",
    minArgs: 2,
    maxArgs: 2,
    compile([time = nothing, modifier = nothing], use) {
      const zone = zoneOf(use.scope.context.timeZone);
      const steps = parseRelativeTime(constantText(modifier)?.trim() ?? "");
      if (constantText(modifier) !== undefined && steps === undefined) return nothing;
      if (typeof time.constant === "number" && steps !== undefined) {
        const moment = relativeTime(time.constant * 1000, steps, zone);
        return moment === undefined ? nothing : toMicroseconds(constant(Math.round(moment * 1e3) / 1e6));
      }
      const moved = relativeTimeText(
        asText(numberArgument(time, use)),
        textArgument(modifier, use),
        sql`CAST(${zone.id} AS VARCHAR)`,
      );
      return toMicroseconds(number(sql`CAST(${moved} AS DOUBLE)`));
    },
  },
  {
    name: "strftime",
    syntax: "strftime(time, format)",
    summary: "A time as text, by a format: `%F %T.%3N`.",
    minArgs: 2,
    maxArgs: 2,
    compile([time = nothing, format = nothing], use) {
      const zone = zoneOf(use.scope.context.timeZone);
      const seconds = numberArgument(time, use);
      const known = constantText(format);
      if (known !== undefined) return text(formatTimeSql(seconds, known, zone));
      return text(formatAnySql(seconds, textArgument(format, use), zone));
    },
  },
  {
    name: "strptime",
    syntax: "strptime(text, format)",
    summary: "The time of a text, by a format; null if the text does not match.",
    minArgs: 2,
    maxArgs: 2,
    compile([given = nothing, format = nothing], use) {
      const { nowMs, timeZone } = use.scope.context;
      const constants = [zoneOf(timeZone).id, String(nowMs)].map((value) => sql`CAST(${value} AS VARCHAR)`);
      const parsed = strptimeText(textArgument(given, use), textArgument(format, use), ...constants);
      return toMicroseconds(number(sql`CAST(${parsed} AS DOUBLE)`));
    },
  },
  {
    name: "time",
    syntax: "time()",
    summary: "The current time: the start of the search, by the sandbox's clock.",
    minArgs: 0,
    maxArgs: 0,
    compile: (_, { scope }) => toMicroseconds(constant(scope.context.nowMs / 1000)),
  },
] satisfies readonly Entry[]);

/** `strftime` on columns. */
import { findTimeZone, type TimeZone } from "@offhook/log-store/dates/time-zone";
import { KNOWN_FROM_MS, KNOWN_TO_MS } from "@offhook/log-store/dates/transitions";
import { offsetSql } from "@offhook/log-store/dates/zone-sql";
import { type Sql, sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { lookupTable } from "@offhook/platform/base/lookup-table";
import { bindOnce, lambdaParameter } from "../relation/typed.ts";
import { EARLIEST_SECONDS, formatTime, LATEST_SECONDS } from "./strftime.ts";
import { type FormatItem, readTimeFormat } from "./time-format.ts";

const formatRow = defineRowFunction("spl.strftime", (seconds, format, zone) => {
  const timeZone = findTimeZone(zone ?? "");
  if (seconds === null || format === null || timeZone === undefined) return null;
  return formatTime(Number(seconds), format, timeZone) ?? null;
});

/** Variables that DuckDB writes identically. Its `%n` does not give full nanoseconds. */
const natives = lookupTable<string>({
  ...Object.fromEntries([..."YymdHISMpjaAbBUWVGuw"].map((name) => [name, `%${name}`])),
  f: "%f",
  "3N": "%g",
  "6N": "%f",
  "9N": "%f000",
});

/**
 * Formats a time as VARCHAR; NULL outside the years 1 to 9999.
 * @param seconds DOUBLE since the epoch, with a fraction
 */
export function formatTimeSql(seconds: Sql, format: string, zone: TimeZone): Sql {
  const native = nativeFormat(readTimeFormat(format), zone);
  const otherwise = (at: Sql) => formatAnySql(at, sql`CAST(${format} AS VARCHAR)`, zone);
  if (native === undefined) return otherwise(seconds);
  return bindOnce(seconds, (at) => {
    const micros = sql`CAST(round(${at} * 1000000) AS BIGINT)`;
    const written = (local: Sql) => sql`strftime(make_timestamp(${local}), CAST(${native} AS VARCHAR))`;
    if (zone.fixedOffsetMs === 0) {
      return sql`CASE WHEN ${at} BETWEEN ${EARLIEST_SECONDS} AND ${LATEST_SECONDS} THEN ${written(micros)} END`;
    }
    const known = sql`${at} BETWEEN ${KNOWN_FROM_MS / 1000} AND ${KNOWN_TO_MS / 1000}`;
    return sql`CASE WHEN ${known} THEN ${written(localMicros(micros, zone))} ELSE ${otherwise(at)} END`;
  });
}

/** Like `formatTimeSql`, with a format that is a column as well. */
export function formatAnySql(seconds: Sql, format: Sql, zone: TimeZone): Sql {
  return formatRow(sql`CAST(${seconds} AS VARCHAR)`, format, sql`CAST(${zone.id} AS VARCHAR)`);
}

function localMicros(micros: Sql, zone: TimeZone): Sql {
  const name = lambdaParameter();
  return sql`list_transform([${micros}], lambda ${name}: ${name} + CAST(${offsetSql(sql`${name} // 1000`, zone)} AS BIGINT) * 1000)[1]`;
}

/** The format in DuckDB's variables; `undefined` if DuckDB lacks one. */
function nativeFormat(items: readonly FormatItem[], zone: TimeZone): string | undefined {
  const pieces = items.map((item) =>
    item.kind === "literal" ? item.text.replaceAll("%", "%%") : nativeVariable(item, zone),
  );
  const format = pieces.join("");
  return format === "" || pieces.includes(undefined) ? undefined : format;
}

function nativeVariable(
  { name, width }: Extract<FormatItem, { kind: "variable" }>,
  zone: TimeZone,
): string | undefined {
  if (name === "N") return natives[`${width ?? 9}N`];
  if (name === "Q") return natives[`${width ?? 3}N`];
  if ((name === "z" || name === ":z" || name === "Z") && zone.fixedOffsetMs !== undefined) {
    return formatTime(0, `%${name}`, zone);
  }
  return natives[name];
}

/** Times of a column as text. */
import { findTimeZone, type TimeZone } from "../../../datasets/dates/time-zone.ts";
import { offsetSql } from "../../../datasets/dates/zone-sql.ts";
import { type Sql, sql } from "../../../datasets/sql.ts";
import { defineRowFunction } from "../../../datasets/store/program-functions.ts";
import { bound, variable } from "../typed.ts";
import { EARLIEST_SECONDS, formatTime, LATEST_SECONDS } from "./strftime.ts";
import { type FormatItem, readTimeFormat } from "./time-format.ts";

const formatRow = defineRowFunction("spl.strftime", (seconds, format, zone) => {
  const timeZone = findTimeZone(zone ?? "");
  if (seconds === null || format === null || timeZone === undefined) return null;
  return formatTime(Number(seconds), format, timeZone) ?? null;
});

/** Variables that DuckDB writes in the same way. */
const natives: Readonly<Record<string, string>> = {
  ...Object.fromEntries([..."YymdHISMpjaAbBUWVGuw"].map((name) => [name, `%${name}`])),
  f: "%f",
  "3N": "%g",
  "6N": "%f",
  "9N": "%n",
};

/**
 * VARCHAR; NULL for a moment outside the years 1 to 9999.
 * @param seconds DOUBLE: since the epoch, with a fraction
 */
export function formatTimeSql(seconds: Sql, format: string, zone: TimeZone): Sql {
  const native = nativeFormat(readTimeFormat(format), zone);
  if (native === undefined) return formatAnySql(seconds, sql`CAST(${format} AS VARCHAR)`, zone);
  return bound(seconds, (at) => {
    const micros = sql`CAST(round(${at} * 1000000) AS BIGINT)`;
    const local = zone.fixedOffsetMs === 0 ? micros : localMicros(micros, zone);
    const range = sql`${at} BETWEEN ${EARLIEST_SECONDS} AND ${LATEST_SECONDS}`;
    return sql`CASE WHEN ${range} THEN strftime(make_timestamp(${local}), CAST(${native} AS VARCHAR)) END`;
  });
}

/** The same for a format that is a column too. */
export function formatAnySql(seconds: Sql, format: Sql, zone: TimeZone): Sql {
  return formatRow(sql`CAST(${seconds} AS VARCHAR)`, format, sql`CAST(${zone.id} AS VARCHAR)`);
}

function localMicros(micros: Sql, zone: TimeZone): Sql {
  const name = variable();
  return sql`list_transform([${micros}], lambda ${name}: ${name} + ${offsetSql(sql`${name} // 1000`, zone)} * 1000)[1]`;
}

/** `undefined` when DuckDB cannot write it all. */
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

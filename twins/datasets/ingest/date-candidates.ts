/**
 * Dates as logs write them. A zone that stands there is honoured; without one a date is in UTC. A column is of one format
 * in all its rows, or it is text.
 */
import { joined, raw, type Sql, sql } from "../sql.ts";
import type { Candidate } from "./candidates.ts";
import { constant } from "./constant.ts";

const CLOCK = "\\d{2}:\\d{2}:\\d{2}";
const FRACTION = "[.]\\d{1,9}";
const OFFSET = "[+-]\\d{2}(?::?\\d{2})?";
const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
const WEEKDAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";

/** A format: values that look like it, and that name a moment there is. */
function date(name: string, pattern: string, convert: (value: Sql) => Sql): Candidate {
  return {
    name,
    type: "date",
    fits: (value) => sql`regexp_full_match(${value}, ${constant(pattern)}) AND ${convert(value)} IS NOT NULL`,
    convert,
  };
}

const moment = (value: Sql) => sql`CAST(TRY_CAST(${value} AS TIMESTAMPTZ) AS TIMESTAMP)`;
const replaced = (value: Sql, pattern: string, by: string) =>
  sql`regexp_replace(${value}, ${constant(pattern)}, ${constant(by)})`;

/** By patterns of strptime, tried in turn. */
function parsed(value: Sql, formats: readonly string[]): Sql {
  return sql`CAST(try_strptime(${value}, [${joined(formats.map(constant), ", ")}]) AS TIMESTAMP)`;
}

/** `2024-01-31T09:00:00.123Z`, `2024-01-31 09:00:00+02:00`, `2024-01-31`: ISO 8601 and RFC 3339. */
const iso = date("ISO 8601", `\\d{4}-\\d{2}-\\d{2}(?:[T ]${CLOCK}(?:${FRACTION})?(?:Z|${OFFSET})?)?`, moment);

/** The same with what is seen in logs: a comma before the fraction, slashes, no seconds, a space before the zone. */
const looseIso = date(
  "ISO 8601 with variations",
  `\\d{4}([-/])\\d{2}[-/]\\d{2}(?:[T ]\\d{2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,9})?)?(?: ?(?:Z|UTC|GMT|${OFFSET}))?)?`,
  (value) => {
    const plain = sql`replace(replace(${value}, ',', '.'), '/', '-')`;
    const zone = replaced(plain, " ?(?:UTC|GMT)$", "Z");
    const seconds = replaced(zone, `^(.{10}[T ]\\d{2}:\\d{2})( ?(?:Z|${OFFSET}))?$`, "\\1:00\\2");
    return moment(replaced(seconds, ` (Z|${OFFSET})$`, "\\1"));
  },
);

/** `20240131T090000Z`. */
const basicIso = date("ISO 8601, basic", `\\d{8}T\\d{6}(?:${FRACTION})?(?:Z|[+-]\\d{4})?`, (value) =>
  moment(replaced(value, "^(\\d{4})(\\d{2})(\\d{2})T(\\d{2})(\\d{2})", "\\1-\\2-\\3T\\4:\\5:")),
);

/** `[31/Jan/2024:09:00:00 +0200]`: Apache's common log format. */
const commonLog = date("common log format", `\\[?\\d{2}/${MONTH}/\\d{4}:${CLOCK} [+-]\\d{4}\\]?`, (value) =>
  parsed(sql`trim(${value}, '[]')`, ["%d/%b/%Y:%H:%M:%S %z"]),
);

/** `Wed, 31 Jan 2024 09:00:00 +0200`. */
const mail = date(
  "RFC 2822",
  `(?:${WEEKDAY}, )?\\d{1,2} ${MONTH} \\d{4} \\d{2}:\\d{2}(?::\\d{2})? (?:[+-]\\d{4}|GMT|UTC|UT|Z)`,
  (value) => {
    const zoned = replaced(value, "(?:GMT|UTC|UT|Z)$", "+0000");
    return parsed(replaced(zoned, "^[A-Za-z]{3}, ", ""), ["%d %b %Y %H:%M:%S %z", "%d %b %Y %H:%M %z"]);
  },
);

/** `Wed Jan 31 09:00:00.123456 2024`: asctime, Apache's error log. */
const asctime = date(
  "asctime",
  `\\[?${WEEKDAY} ${MONTH} [ \\d]\\d ${CLOCK}(?:[.]\\d{1,6})? \\d{4}\\]?`,
  (value) =>
    parsed(replaced(sql`trim(${value}, '[]')`, "^[A-Za-z]{3} ", ""), [
      "%b %d %H:%M:%S %Y",
      "%b %d %H:%M:%S.%f %Y",
    ]),
);

/** `Jan 31 2024 09:00:00`, `2024 Jan 31 09:00:00`: syslog, when it has a year. */
const syslog = date(
  "syslog with a year",
  `(?:${MONTH} [ \\d]?\\d,? \\d{4}|\\d{4} ${MONTH} [ \\d]?\\d) ${CLOCK}(?:[.]\\d{1,6})?`,
  (value) =>
    parsed(sql`replace(${value}, ',', '')`, [
      "%b %d %Y %H:%M:%S",
      "%Y %b %d %H:%M:%S",
      "%b %d %Y %H:%M:%S.%f",
      "%Y %b %d %H:%M:%S.%f",
    ]),
);

const dayOrMonth = `\\d{1,2}([./-])\\d{1,2}[./-]\\d{4}(?:,? \\d{1,2}:\\d{2}(?::\\d{2}(?:[.]\\d{1,6})?)?(?: ?[AaPp][Mm])?)?`;
const times = ["", " %H:%M:%S", " %H:%M", " %H:%M:%S.%f", " %I:%M:%S %p", " %I:%M %p"];

function withSlashes(value: Sql): Sql {
  const slashes = replaced(value, "^(\\d{1,2})[./-](\\d{1,2})[./-](\\d{4}),?", "\\1/\\2/\\3");
  return sql`upper(${replaced(slashes, " ?([AaPp][Mm])$", " \\1")})`;
}

/** `31/01/2024 09:00:00`, `31.01.2024`. */
export const dayFirst = date("day first", dayOrMonth, (value) =>
  parsed(
    withSlashes(value),
    times.map((time) => `%d/%m/%Y${time}`),
  ),
);

/** `01/31/2024 9:00 AM`. */
export const monthFirst = date("month first", dayOrMonth, (value) =>
  parsed(
    withSlashes(value),
    times.map((time) => `%m/%d/%Y${time}`),
  ),
);

/** Formats of which no two have a value in common, except the last two. */
export const dates: readonly Candidate[] = [
  iso,
  looseIso,
  basicIso,
  commonLog,
  mail,
  asctime,
  syslog,
  dayFirst,
  monthFirst,
];

/** `20240131090000`. */
const digitsOnly = date("digits", "(?:19|20)\\d{12}", (value) => parsed(value, ["%Y%m%d%H%M%S"]));

/** A count since 1970 within what its unit can mean for a log: years 1973 to 5138, in seconds; and so on. */
function epoch(unit: string, fromDigits: number, toDigits: number, microseconds: string): Candidate {
  const pattern = `[1-9]\\d{${fromDigits - 1},${toDigits - 1}}(?:\\.\\d{1,9})?`;
  return date(`epoch in ${unit}`, pattern, (value) => {
    const scaled = sql`TRY_CAST(${value} AS DECIMAL(38, 9)) * ${raw(microseconds)}`;
    return sql`make_timestamp(TRY_CAST(floor(${scaled}) AS BIGINT))`;
  });
}

/** What a number is in a column whose name says that it is a time. */
export const timeNumbers: readonly Candidate[] = [
  digitsOnly,
  epoch("seconds", 9, 11, "1000000"),
  epoch("milliseconds", 12, 14, "1000"),
  epoch("microseconds", 15, 17, "1"),
  epoch("nanoseconds", 18, 20, "0.001"),
];

/** Time formats in SQL: which values of a staged column are of a format, and what they become. A column is of one format in all its rows. */
import {
  asctime,
  basicIso,
  blankTimes,
  commonLog,
  dayFirst as dayFirstFormat,
  digitsOnly,
  dottedDayFirst,
  type EpochFormat,
  epochs,
  iso,
  kibana,
  looseIso,
  mail,
  monthFirst as monthFirstFormat,
  namedMonth,
  syslog,
  type TimeFormat,
  zonedAsctime,
} from "../dates/time-formats.ts";
import { joined, raw, type Sql, sql, textLiteral } from "../sql.ts";
import type { Candidate } from "./candidates.ts";

const blanks = joined([...blankTimes].map(textLiteral), ", ");

/** Whether a value says that there is no time. */
export function isBlankTime(value: Sql): Sql {
  return sql`${value} IN (${blanks})`;
}

/**
 * A format: values that look like it, and that name a moment there is.
 * @param convert answers NULL for a blank
 * @param onCalendar what is NULL for a day that no month has, where `convert` takes it for one of the month after
 */
function date(
  { name, patterns }: TimeFormat,
  convert: (value: Sql) => Sql,
  onCalendar: (value: Sql) => Sql = convert,
): Candidate {
  const pattern = textLiteral(patterns.map((one) => `(?:${withoutNames(one)})`).join("|"));
  return {
    name,
    type: "date",
    fits: (value) => sql`regexp_full_match(${value}, ${pattern}) AND ${onCalendar(value)} IS NOT NULL`,
    isBlank: isBlankTime,
    convert,
  };
}

/** Nothing in SQL asks for a group: naming them costs time. */
function withoutNames(pattern: string): string {
  return pattern.replace(/\(\?<[a-z]+>/g, "(?:");
}

const moment = (value: Sql) => sql`CAST(TRY_CAST(${value} AS TIMESTAMPTZ) AS TIMESTAMP)`;
const replaced = (value: Sql, pattern: string, by: string) =>
  sql`regexp_replace(${value}, ${textLiteral(pattern)}, ${textLiteral(by)})`;

/** By patterns of strptime, tried in turn. */
function parsed(value: Sql, formats: readonly string[]): Sql {
  return sql`CAST(try_strptime(${value}, [${joined(formats.map(textLiteral), ", ")}]) AS TIMESTAMP)`;
}

/** With a zone, strptime takes February 30 for March 1 or 2. */
function zoned(format: TimeFormat, prepare: (value: Sql) => Sql, patterns: readonly string[]): Candidate {
  const withoutZone = patterns.map((pattern) => pattern.replace(" %z", ""));
  return date(
    format,
    (value) => parsed(prepare(value), patterns),
    (value) => parsed(replaced(prepare(value), " [+-]\\d{4}", ""), withoutZone),
  );
}

/** Zones by their offset, the only form in which strptime reads them. */
const withOffset = (value: Sql) => replaced(value, " (?:GMT|UTC|UT|Z)( |$)", " +0000\\1");
const withoutWeekday = (value: Sql) => replaced(value, "^[A-Za-z]{3},? ", "");

const looseMoment = (value: Sql) => {
  const plain = sql`replace(replace(${value}, ',', '.'), '/', '-')`;
  const zone = replaced(plain, " ?(?:UTC|GMT)$", "Z");
  const seconds = replaced(zone, "^(.{10}[T ]\\d{2}:\\d{2})( ?(?:Z|[+-][\\d:]+))?$", "\\1:00\\2");
  return moment(replaced(seconds, " (Z|[+-][\\d:]+)$", "\\1"));
};

const syslogMoment = (value: Sql) => {
  const spaced = replaced(sql`replace(${value}, ',', '')`, " ?([AaPp][Mm])$", " \\1");
  return parsed(spaced, [
    "%b %d %Y %H:%M:%S",
    "%Y %b %d %H:%M:%S",
    "%b %d %Y %H:%M:%S.%f",
    "%Y %b %d %H:%M:%S.%f",
    "%b %d %Y %I:%M:%S %p",
  ]);
};

const times = ["", " %H:%M:%S", " %H:%M", " %H:%M:%S.%f", " %I:%M:%S %p", " %I:%M %p"];

function numbered(value: Sql, order: string): Sql {
  const slashes = replaced(value, "^(\\d{1,2})[./-](\\d{1,2})[./-](\\d{4}),?", "\\1/\\2/\\3");
  const spaced = sql`upper(${replaced(slashes, " ?([AaPp][Mm])$", " \\1")})`;
  return parsed(
    spaced,
    times.map((time) => `${order}${time}`),
  );
}

export const dayFirst = date(dayFirstFormat, (value) => numbered(value, "%d/%m/%Y"));
export const monthFirst = date(monthFirstFormat, (value) => numbered(value, "%m/%d/%Y"));

/** Formats, the likelier of two that have a value in common first; of the last two neither is. */
export const dates: readonly Candidate[] = [
  date(iso, moment),
  date(looseIso, looseMoment),
  date(basicIso, (value) =>
    moment(replaced(value, "^(\\d{4})(\\d{2})(\\d{2})T(\\d{2})(\\d{2})", "\\1-\\2-\\3T\\4:\\5:")),
  ),
  zoned(commonLog, (value) => sql`trim(${value}, '[]')`, ["%d/%b/%Y:%H:%M:%S %z"]),
  zoned(mail, (value) => withoutWeekday(withOffset(value)), ["%d %b %Y %H:%M:%S %z", "%d %b %Y %H:%M %z"]),
  date(asctime, (value) =>
    parsed(withoutWeekday(sql`trim(${value}, '[]')`), ["%b %d %H:%M:%S %Y", "%b %d %H:%M:%S.%f %Y"]),
  ),
  zoned(zonedAsctime, (value) => withoutWeekday(withOffset(value)), [
    "%b %d %H:%M:%S %z %Y",
    "%b %d %H:%M:%S %Y %z",
  ]),
  date(syslog, syslogMoment),
  date(kibana, (value) =>
    parsed(value, ["%b %d, %Y @ %H:%M:%S.%f", "%b %d, %Y @ %H:%M:%S", "%b %d, %Y @ %H:%M"]),
  ),
  date(namedMonth, (value) =>
    parsed(replaced(value, "^(\\d+)[-/ ]([A-Za-z]+)[-/ ](\\d{4})[ :]?", "\\1 \\2 \\3 "), [
      "%d %b %Y %H:%M:%S",
      "%d %b %Y %H:%M:%S.%f",
      "%d %b %Y %H:%M",
      "%d %b %Y ",
    ]),
  ),
  date(dottedDayFirst, (value) => numbered(value, "%d/%m/%Y")),
  dayFirst,
  monthFirst,
];

function epoch(format: EpochFormat): Candidate {
  // Exact as a decimal: microseconds are thousandths of what a unit has in nanoseconds.
  const microseconds = raw(format.nanosPerUnit < 1000n ? "0.001" : String(format.nanosPerUnit / 1000n));
  return date(format, (value) => {
    const scaled = sql`TRY_CAST(${value} AS DECIMAL(38, 9)) * ${microseconds}`;
    return sql`make_timestamp(TRY_CAST(floor(${scaled}) AS BIGINT))`;
  });
}

/** What a number is in a column whose name says that it is a time. */
export const timeNumbers: readonly Candidate[] = [
  date(digitsOnly, (value) => parsed(value, ["%Y%m%d%H%M%S"])),
  ...epochs.map(epoch),
];

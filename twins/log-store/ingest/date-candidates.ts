/** Time formats as candidates, in SQL. All values of a column have one format. */
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

/** Whether a value is a placeholder for a missing time. */
export function isBlankTime(value: Sql): Sql {
  return sql`${value} IN (${blanks})`;
}

/**
 * The candidate of a format: values that match its pattern and exist in the calendar.
 * @param convert returns NULL for a placeholder
 * @param onCalendar returns NULL for a day that the month lacks, where `convert` would overflow into the next month
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

/** SQL needs no groups, and naming them costs time. */
function withoutNames(pattern: string): string {
  return pattern.replace(/\(\?<[a-z]+>/g, "(?:");
}

const moment = (value: Sql) => sql`CAST(TRY_CAST(${value} AS TIMESTAMPTZ) AS TIMESTAMP)`;
const replace = (value: Sql, pattern: string, by: string) =>
  sql`regexp_replace(${value}, ${textLiteral(pattern)}, ${textLiteral(by)})`;

/** Tries strptime patterns in their order. */
function strptime(value: Sql, formats: readonly string[]): Sql {
  return sql`CAST(try_strptime(${value}, [${joined(formats.map(textLiteral), ", ")}]) AS TIMESTAMP)`;
}

/** A format with a zone, for which strptime reads February 30 as March 1 or 2. */
function zonedDate(format: TimeFormat, prepare: (value: Sql) => Sql, patterns: readonly string[]): Candidate {
  const withoutZone = patterns.map((pattern) => pattern.replace(" %z", ""));
  return date(
    format,
    (value) => strptime(prepare(value), patterns),
    (value) => strptime(replace(prepare(value), " [+-]\\d{4}", ""), withoutZone),
  );
}

/** Names of UTC as an offset, the only form of a zone that strptime reads. */
const withOffset = (value: Sql) => replace(value, " (?:GMT|UTC|UT|Z)( |$)", " +0000\\1");
const withoutWeekday = (value: Sql) => replace(value, "^[A-Za-z]{3},? ", "");

const looseMoment = (value: Sql) => {
  const plain = sql`replace(replace(${value}, ',', '.'), '/', '-')`;
  const zone = replace(plain, " ?(?:UTC|GMT)$", "Z");
  const seconds = replace(zone, "^(.{10}[T ]\\d{2}:\\d{2})( ?(?:Z|[+-][\\d:]+))?$", "\\1:00\\2");
  return moment(replace(seconds, " (Z|[+-][\\d:]+)$", "\\1"));
};

const syslogMoment = (value: Sql) => {
  const spaced = replace(sql`replace(${value}, ',', '')`, " ?([AaPp][Mm])$", " \\1");
  return strptime(spaced, [
    "%b %d %Y %H:%M:%S",
    "%Y %b %d %H:%M:%S",
    "%b %d %Y %H:%M:%S.%f",
    "%Y %b %d %H:%M:%S.%f",
    "%b %d %Y %I:%M:%S %p",
  ]);
};

const times = ["", " %H:%M:%S", " %H:%M", " %H:%M:%S.%f", " %I:%M:%S %p", " %I:%M %p"];

function numericDate(value: Sql, order: string): Sql {
  const slashes = replace(value, "^(\\d{1,2})[./-](\\d{1,2})[./-](\\d{4}),?", "\\1/\\2/\\3");
  const spaced = sql`upper(${replace(slashes, " ?([AaPp][Mm])$", " \\1")})`;
  return strptime(
    spaced,
    times.map((time) => `${order}${time}`),
  );
}

export const dayFirst = date(dayFirstFormat, (value) => numericDate(value, "%d/%m/%Y"));
export const monthFirst = date(monthFirstFormat, (value) => numericDate(value, "%m/%d/%Y"));

/** Of two formats that share values the likelier comes first. The last two are ambiguous: neither is likelier. */
export const dates: readonly Candidate[] = [
  date(iso, moment),
  date(looseIso, looseMoment),
  date(basicIso, (value) =>
    moment(replace(value, "^(\\d{4})(\\d{2})(\\d{2})T(\\d{2})(\\d{2})", "\\1-\\2-\\3T\\4:\\5:")),
  ),
  zonedDate(commonLog, (value) => sql`trim(${value}, '[]')`, ["%d/%b/%Y:%H:%M:%S %z"]),
  zonedDate(mail, (value) => withoutWeekday(withOffset(value)), [
    "%d %b %Y %H:%M:%S %z",
    "%d %b %Y %H:%M %z",
  ]),
  date(asctime, (value) =>
    strptime(withoutWeekday(sql`trim(${value}, '[]')`), ["%b %d %H:%M:%S %Y", "%b %d %H:%M:%S.%f %Y"]),
  ),
  zonedDate(zonedAsctime, (value) => withoutWeekday(withOffset(value)), [
    "%b %d %H:%M:%S %z %Y",
    "%b %d %H:%M:%S %Y %z",
  ]),
  date(syslog, syslogMoment),
  date(kibana, (value) =>
    strptime(value, ["%b %d, %Y @ %H:%M:%S.%f", "%b %d, %Y @ %H:%M:%S", "%b %d, %Y @ %H:%M"]),
  ),
  date(namedMonth, (value) =>
    strptime(replace(value, "^(\\d+)[-/ ]([A-Za-z]+)[-/ ](\\d{4})[ :]?", "\\1 \\2 \\3 "), [
      "%d %b %Y %H:%M:%S",
      "%d %b %Y %H:%M:%S.%f",
      "%d %b %Y %H:%M",
      "%d %b %Y ",
    ]),
  ),
  date(dottedDayFirst, (value) => numericDate(value, "%d/%m/%Y")),
  dayFirst,
  monthFirst,
];

function epoch(format: EpochFormat): Candidate {
  // Exact as a decimal.
  const microseconds = raw(format.nanosPerUnit < 1000n ? "0.001" : String(format.nanosPerUnit / 1000n));
  return date(format, (value) => {
    const scaled = sql`TRY_CAST(${value} AS DECIMAL(38, 9)) * ${microseconds}`;
    return sql`make_timestamp(TRY_CAST(floor(${scaled}) AS BIGINT))`;
  });
}

/** Numeric formats, for columns whose names say that they are times. */
export const timeNumbers: readonly Candidate[] = [
  date(digitsOnly, (value) => strptime(value, ["%Y%m%d%H%M%S"])),
  ...epochs.map(epoch),
];

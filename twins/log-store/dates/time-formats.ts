/**
 * Times as logs write them. A zone that stands there is honoured; without one a time is in UTC. What an upload recognises in a column
 * (`ingest/date-candidates.ts`, in SQL over the same patterns) is what later writes read in it (`read`, here).
 */
import { dateMs } from "./calendar.ts";
import { monthNames } from "./names.ts";

export interface TimeFormat {
  /** Unique; a store keeps it by this name. */
  readonly name: string;
  /** For RE2 and JavaScript alike; the whole value matches one of them. Named groups say what its pieces are. */
  readonly patterns: readonly string[];
  /** Microseconds since the Unix epoch, finer digits cut off; `undefined` for what is no time of this format. */
  read(text: string): bigint | undefined;
}

/** What a log writes where there is no time. */
export const blankTimes: ReadonlySet<string> = new Set([
  "",
  "-",
  "null",
  "NULL",
  "None",
  "N/A",
  "n/a",
  "NaN",
  "NaT",
  "\\N",
]);

const YEAR = "(?<year>\\d{4})";
const MONTH = "(?<month>0[1-9]|1[0-2])";
const DAY = "(?<day>0[1-9]|[12]\\d|3[01])";
const HOUR = "(?<hour>[01]\\d|2[0-3])";
const MINUTE = "(?<minute>[0-5]\\d)";
const SECOND = "(?<second>[0-5]\\d)";
const CLOCK = `${HOUR}:${MINUTE}:${SECOND}`;
const NANOS = "[.](?<fraction>\\d{1,9})";
/** DuckDB's strptime reads no finer ones. */
const MICROS = "[.](?<fraction>\\d{1,6})";
const OFFSET = "[+-](?:0\\d|1[0-8])(?::?[0-5]\\d)?";
const BASIC_OFFSET = "[+-](?:0\\d|1[0-8])[0-5]\\d";
const MONTH_NAME = "(?<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
const WEEKDAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const SHORT_DAY = "(?<day>[ 0]?[1-9]|[12]\\d|3[01])";
const SHORT_MONTH = "(?<month>0?[1-9]|1[0-2])";
const ANY_HOUR = "(?<hour>[01]?\\d|2[0-3])";
const HALF_DAY_HOUR = "(?<hour>0?[1-9]|1[0-2])";
const MERIDIEM = " ?(?<meridiem>[AaPp][Mm])";

/** `2024-01-31T09:00:00.123Z`, `2024-01-31 09:00:00+02:00`, `2024-01-31`: ISO 8601 and RFC 3339. */
export const iso = format(
  "ISO 8601",
  `${YEAR}-${MONTH}-${DAY}(?:[T ]${CLOCK}(?:${NANOS})?(?<zone>Z|${OFFSET})?)?`,
);

/** The same with what is seen in logs: a comma before the fraction, slashes, no seconds, a space before the zone. */
export const looseIso = format(
  "ISO 8601 with variations",
  `${YEAR}[-/]${MONTH}[-/]${DAY}(?:[T ]${HOUR}:${MINUTE}(?::${SECOND}(?:[.,](?<fraction>\\d{1,9}))?)?(?: ?(?<zone>Z|UTC|GMT|${OFFSET}))?)?`,
);

/** `20240131T090000Z`. */
export const basicIso = format(
  "ISO 8601, basic",
  `${YEAR}${MONTH}${DAY}T${HOUR}${MINUTE}${SECOND}(?:${NANOS})?(?<zone>Z|${BASIC_OFFSET})?`,
);

/** `[31/Jan/2024:09:00:00 +0200]`: Apache's common log format. */
export const commonLog = format(
  "common log format",
  `\\[?${DAY}/${MONTH_NAME}/${YEAR}:${CLOCK} (?<zone>${BASIC_OFFSET})\\]?`,
);

/** `Wed, 31 Jan 2024 09:00:00 +0200`. */
export const mail = format(
  "RFC 2822",
  `(?:${WEEKDAY}, )?(?<day>0?[1-9]|[12]\\d|3[01]) ${MONTH_NAME} ${YEAR} ${HOUR}:${MINUTE}(?::${SECOND})? (?<zone>${BASIC_OFFSET}|GMT|UTC|UT|Z)`,
);

/** `Wed Jan 31 09:00:00.123456 2024`: asctime, Apache's error log. */
export const asctime = format(
  "asctime",
  `\\[?${WEEKDAY} ${MONTH_NAME} ${SHORT_DAY} ${CLOCK}(?:${MICROS})? ${YEAR}\\]?`,
);

/** `Wed Jan 31 09:00:00 UTC 2024`, `Wed Jan 31 09:00:00 2024 +0100`: date(1) and git. */
export const zonedAsctime = format(
  "asctime with a zone",
  `${WEEKDAY} ${MONTH_NAME} ${SHORT_DAY} ${CLOCK} (?<zone>${BASIC_OFFSET}|GMT|UTC) ${YEAR}`,
  `${WEEKDAY} ${MONTH_NAME} ${SHORT_DAY} ${CLOCK} ${YEAR} (?<zone>${BASIC_OFFSET}|GMT|UTC)`,
);

/** `Jan 31 2024 09:00:00`, `2024 Jan 31 09:00:00`: syslog, when it has a year; `Jan 31, 2024 9:00:00 AM`: Java's. */
export const syslog = format(
  "syslog with a year",
  `${MONTH_NAME} ${SHORT_DAY},? ${YEAR} ${CLOCK}(?:${MICROS})?`,
  `${YEAR} ${MONTH_NAME} ${SHORT_DAY} ${CLOCK}(?:${MICROS})?`,
  `${MONTH_NAME} ${SHORT_DAY},? ${YEAR},? ${HALF_DAY_HOUR}:${MINUTE}:${SECOND}${MERIDIEM}`,
);

/** `Jan 31, 2024 @ 09:00:00.123`: what Kibana shows and exports. */
export const kibana = format(
  "Kibana",
  `${MONTH_NAME} ${SHORT_DAY}, ${YEAR} @ ${HOUR}:${MINUTE}(?::${SECOND}(?:${MICROS})?)?`,
);

/** `31-Jan-2024 09:00:00.123`, `31 Jan 2024 09:00`, `31/Jan/2024:09:00:00`: without a zone. */
export const namedMonth = format(
  "day and name of the month",
  `(?<day>0?[1-9]|[12]\\d|3[01])[-/ ]${MONTH_NAME}[-/ ]${YEAR}(?:[ :]${HOUR}:${MINUTE}(?::${SECOND}(?:${MICROS})?)?)?`,
);

/** The clock after a date of numbers: of 24 hours, or of 12. */
const clocks = [
  `(?:,? ${ANY_HOUR}:${MINUTE}(?::${SECOND}(?:${MICROS})?)?)?`,
  `,? ${HALF_DAY_HOUR}:${MINUTE}(?::${SECOND})?${MERIDIEM}`,
];
const withClocks = (date: string) => clocks.map((clock) => `${date}${clock}`);

/** `31.01.2024 09:00`: where dots are written, the day comes first. */
export const dottedDayFirst = format(
  "day first, with dots",
  ...withClocks(`(?<day>0?[1-9]|[12]\\d|3[01])[.]${SHORT_MONTH}[.]${YEAR}`),
);

/** `31/01/2024 09:00:00`. */
export const dayFirst = format(
  "day first",
  ...withClocks(`(?<day>0?[1-9]|[12]\\d|3[01])[./-]${SHORT_MONTH}[./-]${YEAR}`),
);

/** `01/31/2024 9:00 AM`. */
export const monthFirst = format(
  "month first",
  ...withClocks(`${SHORT_MONTH}[./-](?<day>0?[1-9]|[12]\\d|3[01])[./-]${YEAR}`),
);

/** `20240131090000`. */
export const digitsOnly = format("digits", `(?<year>(?:19|20)\\d{2})${MONTH}${DAY}${HOUR}${MINUTE}${SECOND}`);

/** A count since 1970, of a unit. */
export interface EpochFormat extends TimeFormat {
  /** Units in a microsecond; below 1, microseconds in a unit are its inverse. */
  readonly nanosPerUnit: bigint;
}

/** Within what a unit can mean for a log: years 1973 to 5138, in seconds; and so on. */
export const epochSeconds: EpochFormat = epoch("seconds", [9, 11], 1_000_000_000n);
export const epochs: readonly EpochFormat[] = [
  epochSeconds,
  epoch("milliseconds", [12, 14], 1_000_000n),
  epoch("microseconds", [15, 17], 1_000n),
  epoch("nanoseconds", [18, 20], 1n),
];

const formats: readonly TimeFormat[] = [
  ...[iso, looseIso, basicIso, commonLog, mail, asctime, zonedAsctime, syslog, kibana, namedMonth],
  ...[dottedDayFirst, dayFirst, monthFirst, digitsOnly, ...epochs],
];
const byName: ReadonlyMap<string, TimeFormat> = new Map(formats.map((one) => [one.name, one]));

/** The format of this name; `undefined`: there is none. */
export function timeFormat(name: string): TimeFormat | undefined {
  return byName.get(name);
}

export const timeFormatNames: readonly string[] = formats.map(({ name }) => name);

/** Pieces of a time, as they are written. */
export type TimePieces = Readonly<Record<string, string | undefined>>;

/**
 * Microseconds since the Unix epoch of a year and what else is known; `undefined` when the calendar has no such moment.
 * @param pieces month by number or by name; `hour` of 12 where there is a `meridiem`; `zone` an offset, or a name of UTC
 */
export function instantOf(pieces: TimePieces): bigint | undefined {
  const { year, month = "1", day = "1", minute = "0", second = "0", fraction = "", zone } = pieces;
  const monthNumber = /^\d/.test(month)
    ? Number(month)
    : 1 + monthNames.findIndex((name) => name.startsWith(month));
  const midnight = dateMs(Number(year), monthNumber, Number(day));
  const hour = hourOf(pieces);
  const exists =
    new Date(midnight).getUTCDate() === Number(day) &&
    monthNumber >= 1 &&
    monthNumber <= 12 &&
    hour < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60;
  const offset = offsetMinutes(zone);
  if (!exists || offset === undefined) return undefined;
  const seconds = midnight / 1000 + (hour * 60 + Number(minute) - offset) * 60 + Number(second);
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, "0").slice(0, 6));
}

function hourOf({ hour = "0", meridiem }: TimePieces): number {
  if (meridiem === undefined) return Number(hour);
  return (Number(hour) % 12) + (meridiem.toUpperCase() === "PM" ? 12 : 0);
}

function offsetMinutes(zone: string | undefined): number | undefined {
  if (zone === undefined || !/^[+-]/.test(zone)) return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(":", "") || "0");
  if (hours > 18 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

function format(name: string, ...patterns: readonly string[]): TimeFormat {
  const expressions = patterns.map((pattern) => new RegExp(`^(?:${pattern})$`));
  return {
    name,
    patterns,
    read(text) {
      for (const expression of expressions) {
        const pieces = expression.exec(text)?.groups;
        if (pieces) return instantOf(pieces);
      }
      return undefined;
    },
  };
}

/**
 * What is written later is read in the unit of the column, also where it is too small for an upload to guess the unit from; a count with
 * more digits is of another unit.
 */
function epoch(unit: string, [fewest, most]: readonly [number, number], nanosPerUnit: bigint): EpochFormat {
  const written = new RegExp(`^(-?)(\\d{1,${most}})(?:[.](\\d{1,9}))?$`);
  return {
    name: `epoch in ${unit}`,
    patterns: [`[1-9]\\d{${fewest - 1},${most - 1}}(?:[.]\\d{1,9})?`],
    nanosPerUnit,
    read(text) {
      const [, sign, whole = "", fraction = ""] = written.exec(text) ?? [];
      if (sign === undefined) return undefined;
      const billionths = BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, "0"));
      const scaled = (sign === "-" ? -billionths : billionths) * nanosPerUnit;
      return floorDivide(scaled, 1_000_000_000_000n);
    },
  };
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

/**
 * The time formats of logs. A time without a zone is in UTC. An upload recognises the format of a column in SQL, by the same patterns
 * (`ingest/date-candidates.ts`); later writes to the column are parsed by `read`.
 */
import { dateMs } from "./calendar.ts";
import { monthNames } from "./names.ts";

export interface TimeFormat {
  /** Unique; stores refer to the format by it. */
  readonly name: string;
  /** For RE2 and JavaScript alike: the whole value matches one of them. Named groups are the parts of the time. */
  readonly patterns: readonly string[];
  /** Microseconds since the Unix epoch, finer digits cut off; `undefined` for text of another format. */
  read(text: string): bigint | undefined;
}

/** Placeholders for a missing time. */
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
/** DuckDB's strptime reads no more digits. */
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

/** Variations of ISO 8601 in logs: a comma before the fraction, slashes, no seconds, a space before the zone. */
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

/** The clock time after a numeric date: 24 hours, or 12 with AM and PM. */
const clocks = [
  `(?:,? ${ANY_HOUR}:${MINUTE}(?::${SECOND}(?:${MICROS})?)?)?`,
  `,? ${HALF_DAY_HOUR}:${MINUTE}(?::${SECOND})?${MERIDIEM}`,
];
const withClocks = (date: string) => clocks.map((clock) => `${date}${clock}`);

/** `31.01.2024 09:00`: with dots, the day comes first. */
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

/** A count of units since 1970. */
export interface EpochFormat extends TimeFormat {
  readonly nanosPerUnit: bigint;
}

/** The number of digits tells the unit: 9 to 11 digits are seconds, for the years 1973 to 5138. */
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

/** The format of this name, if there is one. */
export function timeFormat(name: string): TimeFormat | undefined {
  return byName.get(name);
}

export const timeFormatNames: readonly string[] = formats.map(({ name }) => name);

/** The parts of a time, as they are spelled. */
export type TimeParts = Readonly<Record<string, string | undefined>>;

/**
 * Microseconds since the Unix epoch; `undefined` when the calendar has no such time. Only the year is required.
 * @param parts `month` a number or name; `hour` from 1 to 12 if there is a `meridiem`; `zone` an offset, or a name of UTC
 */
export function instantOf(parts: TimeParts): bigint | undefined {
  const { year, month = "1", day = "1", minute = "0", second = "0", fraction = "", zone } = parts;
  const monthNumber = /^\d/.test(month)
    ? Number(month)
    : 1 + monthNames.findIndex((name) => name.startsWith(month));
  const midnight = dateMs(Number(year), monthNumber, Number(day));
  const hour = hourOf(parts);
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

function hourOf({ hour = "0", meridiem }: TimeParts): number {
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
        const parts = expression.exec(text)?.groups;
        if (parts) return instantOf(parts);
      }
      return undefined;
    },
  };
}

/**
 * A later write is read in the column's unit, even with too few digits for an upload to tell the unit; a count with too many digits is
 * refused.
 */
function epoch(
  unit: string,
  [minDigits, maxDigits]: readonly [number, number],
  nanosPerUnit: bigint,
): EpochFormat {
  const written = new RegExp(`^(-?)(\\d{1,${maxDigits}})(?:[.](\\d{1,9}))?$`);
  return {
    name: `epoch in ${unit}`,
    patterns: [`[1-9]\\d{${minDigits - 1},${maxDigits - 1}}(?:[.]\\d{1,9})?`],
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

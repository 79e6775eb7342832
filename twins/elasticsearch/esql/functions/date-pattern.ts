/** Java's date patterns in SQL: formatting and parsing. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { type NumberField, readPattern, type TextField, type Token } from "../../dates/java-pattern.ts";
import { namedFormat } from "../../dates/named-formats.ts";
import { type Span, UnrecognisedEsql } from "../errors.ts";
import { quoteMeta } from "../quote-meta.ts";
import { dateParts } from "./date-parts.ts";

const fields: Partial<Record<NumberField, (date: Sql) => Sql>> = {
  "era-year": part("YEAR_OF_ERA"),
  year: part("YEAR"),
  "week-year": (date) => sql`date_part('isoyear', ${date})`,
  quarter: (date) => sql`date_part('quarter', ${date})`,
  month: part("MONTH_OF_YEAR"),
  week: (date) => sql`date_part('week', ${date})`,
  weekday: part("DAY_OF_WEEK"),
  day: part("DAY_OF_MONTH"),
  "day-of-year": part("DAY_OF_YEAR"),
  hour: part("HOUR_OF_DAY"),
  "hour-1-24": part("CLOCK_HOUR_OF_DAY"),
  "hour-0-11": part("HOUR_OF_AMPM"),
  "hour-1-12": part("CLOCK_HOUR_OF_AMPM"),
  minute: part("MINUTE_OF_HOUR"),
  second: part("SECOND_OF_MINUTE"),
  "milli-of-day": part("MILLI_OF_DAY"),
  nano: part("NANO_OF_SECOND"),
  "nano-of-day": part("NANO_OF_DAY"),
};

function part(name: string): (date: Sql) => Sql {
  const extract = dateParts[name];
  if (!extract) throw new Error(`there is no part of a date named ${name}`);
  return extract;
}

/** @throws VendorError for an invalid pattern; UnrecognisedEsql for one that SQL cannot format */
export function formatSql(date: Sql, pattern: string, at: Span): Sql {
  const tokens = readPattern(namedFormat(pattern)?.print ?? pattern);
  const pieces = tokens.map((token) => formatToken(date, token, at));
  return pieces.length === 0
    ? sql`CASE WHEN ${date} IS NOT NULL THEN '' END`
    : sql`(${joined(pieces, " || ")})`;
}

function formatToken(date: Sql, token: Token, at: Span): Sql {
  switch (token.kind) {
    case "literal":
      return sql`CAST(${token.text} AS VARCHAR)`;
    case "number": {
      const value = fields[token.field]?.(date);
      if (!value) throw new UnrecognisedEsql(at, `the ${token.field} in a pattern of dates`);
      const text = sql`CAST(${value} AS VARCHAR)`;
      return token.min > 1
        ? sql`CASE WHEN length(${text}) < ${raw(String(token.min))} THEN lpad(${text}, ${raw(String(token.min))}, '0') ELSE ${text} END`
        : text;
    }
    case "short-year":
      return sql`strftime(${date}, '%y')`;
    case "fraction":
      return sql`rpad(left(strftime(${date}, '%f'), ${raw(String(Math.min(Math.max(token.min, Math.min(token.max, 3)), 6)))}), ${raw(String(Math.max(token.min, Math.min(token.max, 3))))}, '0')`;
    case "text":
      return textSql(date, token.field, token.width, at);
    case "offset":
      return token.zero === "Z"
        ? raw("'Z'")
        : raw(token.separator === ":" ? "'+00:00'" : token.minutes === "always" ? "'+0000'" : "'+00'");
    case "zone":
      return raw("'Z'");
    case "optional":
      return joined(
        token.tokens.map((inner) => formatToken(date, inner, at)),
        " || ",
      );
  }
}

function textSql(date: Sql, field: TextField, width: "full" | "short" | "narrow", at: Span): Sql {
  if (field === "half-day") return sql`strftime(${date}, '%p')`;
  if (width === "narrow" || (field !== "month" && field !== "weekday")) {
    throw new UnrecognisedEsql(at, `the ${field} as text in a pattern of dates`);
  }
  const directive = field === "month" ? (width === "full" ? "%B" : "%b") : width === "full" ? "%A" : "%a";
  return sql`strftime(${date}, ${raw(`'${directive}'`)})`;
}

/** The fields of a pattern, each with the capture groups that may hold it. */
interface Reading {
  regex: string;
  groups: Map<string, number[]>;
  count: number;
  /** A built-in format: `~` stands for a fraction of a second, `@` for a zone. */
  named: boolean;
}

/** A TIMESTAMP in whole milliseconds; the statement fails for a text that does not match. */
export function parseSql(text: Sql, pattern: string, at: Span): Sql {
  const named = namedFormat(pattern);
  const reading: Reading = { regex: "", groups: new Map(), count: 0, named: named !== undefined };
  for (const token of readPattern(named?.parse ?? named?.print ?? pattern)) readToken(token, reading, at);
  const regex = `^${reading.regex}$`;
  const group = (name: string): Sql | undefined => {
    const numbers = reading.groups
      .get(name)
      ?.map((number) => sql`regexp_extract(${text}, ${regex}, ${raw(String(number))})`);
    return numbers ? sql`(${joined(numbers, " || ")})` : undefined;
  };
  const numberOr = (name: string, fallback: string): Sql => {
    const found = group(name);
    return found ? sql`coalesce(CAST(nullif(${found}, '') AS BIGINT), ${raw(fallback)})` : raw(fallback);
  };
  const fraction = group("fraction");
  const ms = fraction ? sql`CAST(left(rpad(${fraction}, 3, '0'), 3) AS BIGINT)` : raw("0");
  const day = reading.groups.has("day-of-year") ? numberOr("day-of-year", "1") : numberOr("day", "1");
  const date = sql`make_timestamp(${yearOf(numberOr, reading)}, ${monthOf(group, numberOr)}, ${reading.groups.has("day-of-year") ? raw("1") : day}, ${hourOf(group, numberOr)}, ${numberOr("minute", "0")}, CAST(${numberOr("second", "0")} AS DOUBLE))`;
  const shifted = reading.groups.has("day-of-year")
    ? sql`(${date} + to_days(CAST(${day} - 1 AS INTEGER)))`
    : date;
  const moment = sql`(${shifted} + to_milliseconds(CAST(${ms} AS DOUBLE)) - ${offsetOf(group)})`;
  return sql`CASE WHEN regexp_matches(${text}, ${regex}) THEN ${moment} ELSE CAST('x' AS TIMESTAMP) END`;
}

type NumberOr = (name: string, fallback: string) => Sql;
type Group = (name: string) => Sql | undefined;

function yearOf(numberOr: NumberOr, { groups }: Reading): Sql {
  if (groups.has("short-year")) return sql`(2000 + ${numberOr("short-year", "0")})`;
  return groups.has("year") ? numberOr("year", "1970") : numberOr("era-year", "1970");
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

function monthOf(group: Group, numberOr: NumberOr): Sql {
  const text = group("month-text");
  if (!text) return numberOr("month", "1");
  return sql`CAST(list_position(${raw(`[${months.map((name) => `'${name}'`).join(", ")}]`)}, lower(left(${text}, 3))) AS BIGINT)`;
}

function hourOf(group: Group, numberOr: NumberOr): Sql {
  const half = group("half-day");
  const twelve = group("hour-1-12") ? sql`(${numberOr("hour-1-12", "12")} % 12)` : numberOr("hour-0-11", "0");
  if (half) return sql`(${twelve} + CASE WHEN lower(${half}) = 'pm' THEN 12 ELSE 0 END)`;
  return group("hour-1-24") ? sql`(${numberOr("hour-1-24", "24")} % 24)` : numberOr("hour", "0");
}

function offsetOf(group: Group): Sql {
  const offset = group("offset");
  if (!offset) return raw("INTERVAL 0 MINUTE");
  const digits = sql`regexp_replace(${offset}, '[^0-9]', '', 'g')`;
  const minutes = sql`(coalesce(TRY_CAST(left(${digits}, 2) AS INTEGER), 0) * 60 + coalesce(TRY_CAST(substring(${digits}, 3, 2) AS INTEGER), 0))`;
  return sql`to_minutes(CASE WHEN starts_with(${offset}, '-') THEN - ${minutes} ELSE ${minutes} END)`;
}

const OFFSET = "Z|[+-]\\d{2}(?::?\\d{2})?";

function readToken(token: Token, reading: Reading, at: Span): void {
  const grouped = (name: string, regex: string) => {
    reading.groups.set(name, [...(reading.groups.get(name) ?? []), ++reading.count]);
    reading.regex += `(${regex})`;
  };
  switch (token.kind) {
    case "literal":
      if (reading.named && token.text === "~") {
        grouped("fraction", "\\d{1,9}");
        return;
      }
      if (reading.named && token.text === "@") {
        grouped("offset", OFFSET);
        return;
      }
      reading.regex += quoteMeta(token.text);
      return;
    case "number": {
      grouped(
        token.field,
        `-?\\d{${token.min},${Math.max(token.min, Math.min(token.max, 19) - token.reserved)}}`,
      );
      return;
    }
    case "short-year": {
      grouped("short-year", "\\d{2}");
      return;
    }
    case "fraction": {
      grouped("fraction", `\\d{${Math.max(token.min, 1)},${Math.min(token.max, 9)}}`);
      return;
    }
    case "text":
      if (token.field !== "month" && token.field !== "half-day" && token.field !== "weekday") {
        throw new UnrecognisedEsql(at, `the ${token.field} as text in a pattern of dates`);
      }
      {
        grouped(
          token.field === "half-day" ? "half-day" : `${token.field}-text`,
          token.field === "half-day" ? "(?i:am|pm)" : "[A-Za-z]{3,9}",
        );
        return;
      }
    case "offset":
    case "zone": {
      grouped("offset", OFFSET);
      return;
    }
    case "optional": {
      reading.regex += "(?:";
      for (const inner of token.tokens) readToken(inner, reading, at);
      reading.regex += ")?";
    }
  }
}

/**
 * Precision of numbers. splunkd rounds a result to the precision of its least precise operand: products, quotients and powers to its
 * significant digits, sums and differences to its decimal places. Integers, results of other functions and numbers of sixteen or more
 * digits are exact.
 */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce, type Typed, textOf } from "../relation/typed.ts";
import type { Precision, Value } from "./value.ts";

/** A number of more digits comes from a computation, not from a measurement: it counts as exact. */
const EXACT_DIGITS = 16;
/** Decimal digits that every DOUBLE preserves. */
const DOUBLE_DIGITS = 15;

/** The power of ten of the leading digit: 0 for 1 to 9. INTEGER; NULL for 0 and infinity. */
export function leadingPlace(value: Sql): Sql {
  return sql`TRY_CAST(floor(log10(nullif(abs(${value}), 0))) AS INTEGER)`;
}

/** Whether a number has more digits than a measurement. Cheaper than counting the digits of its text. */
function isComputed(value: Sql): Sql {
  const power = leadingPlace(value);
  return sql`round(${value}, ${raw(String(DOUBLE_DIGITS - 1))} - ${power}) <> ${value}`;
}

/** Precision of a literal; `undefined`: exact. */
export function literalPrecision(text: string): Precision | undefined {
  const [, whole = "", fraction] = /^([0-9]*)\.([0-9]+)$/.exec(text) ?? [];
  if (fraction === undefined) return undefined;
  const digits = `${whole}${fraction}`.replace(/^0+/, "").length;
  return {
    exact: () => raw("FALSE"),
    significant: () => raw(String(digits)),
    places: () => raw(String(fraction.length)),
    literal: true,
  };
}

/** Precision of a single value of a field. */
export function fieldPrecision(value: Typed): Precision {
  const counted = (count: (text: Sql) => Sql) => {
    const ofText = (text: Sql) =>
      sql`CASE WHEN contains(${text}, '.') AND NOT contains(lower(${text}), 'e') AND len(${text}) < ${raw(String(EXACT_DIGITS + 1))} THEN CAST(${count(text)} AS INTEGER) END`;
    if (value.type === "text") return bindOnce(value.sql, ofText);
    return bindOnce(
      value.sql,
      (one) =>
        sql`CASE WHEN ${one} <> floor(${one}) AND NOT ${isComputed(one)} THEN ${bindOnce(sql`CAST(${one} AS VARCHAR)`, ofText)} END`,
    );
  };
  const exact = () =>
    value.type === "text"
      ? sql`NOT contains(${value.sql}, '.')`
      : sql`(${value.sql} = floor(${value.sql}) OR ${isComputed(value.sql)})`;
  return {
    exact,
    significant: () => counted((text) => sql`len(ltrim(translate(${text}, '-+. ', ''), '0'))`),
    places: () => counted((text) => sql`len(split_part(rtrim(${text}), '.', 2))`),
    literal: false,
    own: true,
  };
}

/** Precision of the result of two operands. @param result DOUBLE */
export function resultPrecision(
  operator: "+" | "-" | "*" | "/" | "%" | "pow",
  [left, right]: readonly [Value, Value],
  result: Sql,
): Precision | undefined {
  const known = [left.precision, right.precision].filter((one) => one !== undefined);
  const literal = [left, right].every((one) => one.precision?.literal ?? one.constant !== undefined);
  const least = (counts: readonly Sql[]) => {
    const [first = raw("NULL"), second] = counts;
    return second === undefined ? first : sql`least(${first}, ${second})`;
  };
  if (known.length === 0) return undefined;
  const exact = () =>
    joined(
      known.map((one) => one.exact()),
      " AND ",
    );
  const power = leadingPlace(result);
  if (operator === "*" || operator === "/" || operator === "pow") {
    const significant = () => least(known.map((one) => one.significant()));
    const places = () =>
      bindOnce(significant(), (digits) => {
        const behind = sql`${digits} - 1 - coalesce(${power}, ${digits} - 1)`;
        return sql`CASE WHEN ${digits} IS NOT NULL THEN greatest(${behind}, 0) END`;
      });
    return { exact, significant, places, literal };
  }
  const places = () => least(known.map((one) => one.places()));
  const significant = () =>
    bindOnce(
      places(),
      (count) =>
        sql`CASE WHEN ${count} IS NOT NULL THEN greatest(${count} + 1 + coalesce(${power}, 0), 1) END`,
    );
  return { exact, significant, places, literal };
}

/** The value that texts and functions see: rounded to its precision, or as it is displayed. */
export function roundToPrecision(value: Value): Value {
  if (value.multi) return value;
  const { precision, displayText: shown, ...plain } = value;
  if (shown !== undefined) return { type: "text", multi: false, sql: shown, loose: true };
  if (precision === undefined || precision.own || value.constant !== undefined) return plain;
  if (value.type !== "number") return plain;
  // Exact first: it is cheap and mostly true.
  const result = sql`CASE WHEN ${precision.exact()} THEN ${value.sql} ELSE ${roundTo(value.sql, precision.places())} END`;
  return { ...plain, sql: result };
}

/** The value that a field is set to. A result of literals alone keeps its trailing zeros. */
export function toFieldValue(value: Value): Value {
  const { precision, displayText: shown, constant } = value;
  const isLiteral = shown === undefined && constant === undefined && precision?.literal === true;
  if (!isLiteral || value.multi || value.type !== "number") return roundToPrecision(value);
  return { type: "text", multi: false, sql: formatPlaces(value.sql, precision.places()), loose: true };
}

function roundTo(value: Sql, places: Sql): Sql {
  return bindOnce(value, (one) =>
    bindOnce(
      places,
      (count) =>
        sql`CASE WHEN ${count} IS NULL THEN ${one} ELSE round(${one}, CAST(least(${count}, 15) AS INTEGER)) END`,
    ),
  );
}

/** Formats a number with a fixed count of decimal places, as VARCHAR; in its shortest form where the count is NULL. */
export function formatPlaces(value: Sql, places: Sql | number): Sql {
  if (typeof places === "number") return formatConstantPlaces(value, places);
  return bindOnce(value, (one) =>
    bindOnce(places, (count) => {
      const places = sql`CAST(least(greatest(${count}, 0), 15) AS INTEGER)`;
      const plain = textOf({ type: "number", multi: false, sql: one });
      return sql`CASE WHEN ${count} IS NULL OR abs(${one}) >= 1e15 OR ${one} IS NULL THEN ${plain} ELSE format('{:.{}f}', round(CAST(${one} AS DOUBLE), ${places}), ${places}) END`;
    }),
  );
}

/** @param places from 1 to 15 */
function formatConstantPlaces(value: Sql, places: number): Sql {
  const form = raw(`'{:.${places}f}'`);
  return bindOnce(value, (one) => {
    const plain = textOf({ type: "number", multi: false, sql: one });
    return sql`CASE WHEN abs(${one}) < 1e15 THEN format(${form}, round(CAST(${one} AS DOUBLE), ${raw(String(places))})) ELSE ${plain} END`;
  });
}

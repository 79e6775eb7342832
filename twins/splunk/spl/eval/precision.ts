/**
 * How exact a number is. splunkd rounds what is computed to the precision of the least exact operand: products, quotients and powers
 * to its significant digits, sums and differences to its places behind the point. Whole numbers, what other functions give and numbers
 * of sixteen digits and more are exact.
 */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { bindOnce, type Typed, textOf } from "../relation/typed.ts";
import type { Value } from "./value.ts";

export interface Precision {
  /** Whether it is exact: what costs least to look at, and is most often so. */
  exact(): Sql;
  /** INTEGER; NULL where it is exact. */
  significant(): Sql;
  /** Places behind the point. INTEGER; NULL where it is exact. */
  places(): Sql;
  /** All of it is written in the search. */
  readonly literal: boolean;
  /** That of a value as it is, which has no more digits than those. */
  readonly own?: true;
}

/** More digits are those of a DOUBLE, not of a measurement. */
const EXACT_DIGITS = 16;
/** As many a DOUBLE keeps. */
const DOUBLE_DIGITS = 15;

/** Where the leading digit of a number is, 0 before the point. INTEGER; NULL of 0 and of an infinite one. */
export function leadingPlace(value: Sql): Sql {
  return sql`TRY_CAST(floor(log10(nullif(abs(${value}), 0))) AS INTEGER)`;
}

/** Whether a number has more digits than what is measured; without a look at its text. */
function isComputed(value: Sql): Sql {
  const power = leadingPlace(value);
  return sql`round(${value}, ${raw(String(DOUBLE_DIGITS - 1))} - ${power}) <> ${value}`;
}

/** Of a number as it is written in the search; `undefined`: exact. */
export function writtenPrecision(text: string): Precision | undefined {
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

/** Of a single value of a field. */
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

/** Of a result of two numbers. @param result DOUBLE */
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

/** As a text or a function sees it: without digits that its operands do not have. */
export function settled(value: Value): Value {
  if (value.multi) return value;
  const { precision, displayText: shown, ...plain } = value;
  if (shown !== undefined) return { type: "text", multi: false, sql: shown, loose: true };
  if (precision === undefined || precision.own || value.constant !== undefined) return plain;
  if (value.type !== "number") return plain;
  // Where it is exact nothing else is looked at.
  const sure = sql`CASE WHEN ${precision.exact()} THEN ${value.sql} ELSE ${rounded(value.sql, precision.places())} END`;
  return { ...plain, sql: sure };
}

/** As a field gets it. What is all written in the search is shown with its zeros at the end. */
export function assigned(value: Value): Value {
  const { precision, displayText: shown, constant } = value;
  const isWritten = shown === undefined && constant === undefined && precision?.literal === true;
  if (!isWritten || value.multi || value.type !== "number") return settled(value);
  return { type: "text", multi: false, sql: withPlaces(value.sql, precision.places()), loose: true };
}

function rounded(value: Sql, places: Sql): Sql {
  return bindOnce(value, (one) =>
    bindOnce(
      places,
      (count) =>
        sql`CASE WHEN ${count} IS NULL THEN ${one} ELSE round(${one}, CAST(least(${count}, 15) AS INTEGER)) END`,
    ),
  );
}

/** A number with so many places behind the point, VARCHAR; in the fewest digits where the count is NULL. */
export function withPlaces(value: Sql, places: Sql | number): Sql {
  if (typeof places === "number") return withConstantPlaces(value, places);
  return bindOnce(value, (one) =>
    bindOnce(places, (count) => {
      const places = sql`CAST(least(greatest(${count}, 0), 15) AS INTEGER)`;
      const plain = textOf({ type: "number", multi: false, sql: one });
      return sql`CASE WHEN ${count} IS NULL OR abs(${one}) >= 1e15 OR ${one} IS NULL THEN ${plain} ELSE format('{:.{}f}', round(CAST(${one} AS DOUBLE), ${places}), ${places}) END`;
    }),
  );
}

/** @param places from 1 to 15 */
function withConstantPlaces(value: Sql, places: number): Sql {
  const form = raw(`'{:.${places}f}'`);
  return bindOnce(value, (one) => {
    const plain = textOf({ type: "number", multi: false, sql: one });
    return sql`CASE WHEN abs(${one}) < 1e15 THEN format(${form}, round(CAST(${one} AS DOUBLE), ${raw(String(places))})) ELSE ${plain} END`;
  });
}

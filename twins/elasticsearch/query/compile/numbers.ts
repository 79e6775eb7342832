/** Numbers and ranges of them, exact for integers of any size and notation. */
import type { Field } from "@offhook/log-store/fields";
import { type Sql, sql } from "@offhook/log-store/sql";
import type { Bound, Scalar } from "../syntax/query.ts";
import { between, equals, some } from "./column.ts";
import { type Matcher, nothing, uniform } from "./matcher.ts";
import type { Target } from "./target.ts";
import { fieldNumber, integerSql, numberOf, type WholeNumbers, wholeNumbers } from "./values.ts";

type NumberTarget = Extract<Target, { kind: "number" }>;

export interface Bounds {
  readonly lower: Bound | undefined;
  readonly upper: Bound | undefined;
}

interface Compared {
  readonly operator: string;
  readonly bound: Sql;
}

/** @throws VendorError for a value that is not a number */
export function numberTerm(target: NumberTarget, value: Scalar, boost: number): Matcher {
  const { name, field } = target;
  if (!wholeNumbers(field)) {
    const held = fieldNumber(field, numberOf(value));
    return uniform(equals(field, sql`${held}`), boost, `${name}:[${String(value)} TO ${String(value)}]`);
  }
  const bound = { value, inclusive: true };
  return numberRange(target, { lower: bound, upper: bound }, boost);
}

/** @throws VendorError for a bound that is not a number */
export function numberRange({ name, field }: NumberTarget, bounds: Bounds, boost: number): Matcher {
  const whole = wholeNumbers(field);
  const what = `${name}:${rangeText(bounds)}`;
  if (!whole) {
    const compared = [
      ...(bounds.lower ? [doubleBound(field, bounds.lower, ">")] : []),
      ...(bounds.upper ? [doubleBound(field, bounds.upper, "<")] : []),
    ];
    return uniform(
      compared.length === 0 ? anyNumber(field) : some(field, (v) => between(v, compared)),
      boost,
      what,
    );
  }
  const min = bounds.lower ? minOf(bounds.lower) : whole.min;
  const max = bounds.upper ? maxOf(bounds.upper) : whole.max;
  const [from, to] = clamp(min, max, whole);
  if (from > to) return nothing;
  if (from === to) return uniform(equals(field, integerSql(from, field)), boost, what);
  const compared = [
    ...(from > whole.min ? [{ operator: ">=", bound: integerSql(from, field) }] : []),
    ...(to < whole.max ? [{ operator: "<=", bound: integerSql(to, field) }] : []),
  ];
  return uniform(
    compared.length === 0 ? anyNumber(field) : some(field, (v) => between(v, compared)),
    boost,
    what,
  );
}

function anyNumber(field: NumberTarget["field"]): Sql {
  return some(field, (value) => sql`${value} IS NOT NULL`);
}

/** A bound is rounded to single precision only where the field is. */
function doubleBound({ mapping }: Field, { value, inclusive }: Bound, operator: "<" | ">"): Compared {
  const number = Number(numberOf(value));
  const isSingle = mapping?.type === "float" || mapping?.type === "half_float";
  const bound = sql`${isSingle ? Math.fround(number) : number}`;
  return { operator: inclusive ? `${operator}=` : operator, bound };
}

/** Beyond every integer that a field can hold. */
const FAR = 2n ** 70n;

/** The smallest integer within a lower bound. */
function minOf({ value, inclusive }: Bound): bigint {
  const number = numberOf(value);
  if (typeof number === "bigint") return inclusive ? number : number + 1n;
  return Number.isFinite(number) ? largeToBigint(Math.ceil(number)) : number > 0 ? FAR : -FAR;
}

/** The largest integer within an upper bound. */
function maxOf({ value, inclusive }: Bound): bigint {
  const number = numberOf(value);
  if (typeof number === "bigint") return inclusive ? number : number - 1n;
  return Number.isFinite(number) ? largeToBigint(Math.floor(number)) : number > 0 ? FAR : -FAR;
}

function largeToBigint(whole: number): bigint {
  return Math.abs(whole) > 1e21 ? (whole > 0 ? FAR : -FAR) : BigInt(whole);
}

function clamp(min: bigint, max: bigint, whole: WholeNumbers): [bigint, bigint] {
  return [min < whole.min ? whole.min : min, max > whole.max ? whole.max : max];
}

export function rangeText({ lower, upper }: Bounds): string {
  const from = lower ? `${lower.inclusive ? "[" : "{"}${String(lower.value)}` : "[*";
  const to = upper ? `${String(upper.value)}${upper.inclusive ? "]" : "}"}` : "*]";
  return `${from} TO ${to}`;
}

/** Values of a request as SQL: lists, numbers of the field's type, booleans. */
import type { Field } from "@offhook/log-store/fields";
import { jsonParameter, list, raw, type Sql, sql } from "@offhook/log-store/sql";
import { conversionError } from "../errors.ts";
import type { Scalar } from "../syntax/query.ts";

/** Longer lists are bound as one JSON text. */
const MAX_BOUND_VALUES = 64;

/** The right side of an `IN`. */
export function strings(values: readonly string[]): Sql {
  if (values.length <= MAX_BOUND_VALUES) return list(values);
  return sql`(SELECT unnest(from_json(${jsonParameter(values)}, '["VARCHAR"]')))`;
}

const LONG = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const UNSIGNED_LONG = { min: 0n, max: 2n ** 64n - 1n };

export interface WholeNumbers {
  readonly min: bigint;
  readonly max: bigint;
}

/** The range of an integer field; `undefined` for a field of doubles. */
export function wholeNumbers({ type }: Field): WholeNumbers | undefined {
  if (type === "long") return LONG;
  return type === "unsigned_long" ? UNSIGNED_LONG : undefined;
}

/**
 * Reads a number, integers exactly.
 * @throws VendorError `number_format_exception`
 */
export function numberOf(value: Scalar): number | bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof value === "string") {
    const written = value.trim();
    if (/^[+-]?\d+$/.test(written) && written.length < 400) return BigInt(written.replace("+", ""));
    if (/^[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(written)) {
      const number = Number(written);
      return Number.isSafeInteger(number) ? BigInt(number) : number;
    }
  }
  throw conversionError(`For input string: "${String(value).trim()}"`);
}

/** A number in the precision of the field's mapping. */
export function fieldNumber({ mapping }: Field, value: number | bigint): number {
  const number = Number(value);
  return mapping ? mapping.fraction(number) : number;
}

export function integerSql(value: bigint, { type }: Field): Sql {
  return sql`CAST(${value} AS ${raw(type === "unsigned_long" ? "UBIGINT" : "BIGINT")})`;
}

/** @throws VendorError */
export function booleanOf(value: Scalar): boolean {
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  throw conversionError(
    `Can't parse boolean value [${String(value)}], expected [true] or [false]`,
    "illegal_argument_exception",
  );
}

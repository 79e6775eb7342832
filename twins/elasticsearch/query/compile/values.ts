/** Values of a request as SQL: lists that may be long, numbers of the field's own type, booleans. */
import type { Field } from "@offhook/log-store/fields";
import { jsonParameter, list, raw, type Sql, sql } from "@offhook/log-store/sql";
import { conversionError } from "../errors.ts";
import type { Scalar } from "../syntax/query.ts";

/** As many values as are bound one by one; more go as one JSON text. */
const BOUND_VALUES = 64;

/** What may follow `IN`. */
export function strings(values: readonly string[]): Sql {
  if (values.length <= BOUND_VALUES) return list(values);
  return sql`(SELECT unnest(from_json(${jsonParameter(values)}, '["VARCHAR"]')))`;
}

const LONG = { least: -(2n ** 63n), most: 2n ** 63n - 1n };
const UNSIGNED_LONG = { least: 0n, most: 2n ** 64n - 1n };

export interface WholeNumbers {
  readonly least: bigint;
  readonly most: bigint;
}

/** The integers that a field holds; `undefined` for one of doubles. */
export function wholeNumbers({ type }: Field): WholeNumbers | undefined {
  if (type === "long") return LONG;
  return type === "unsigned_long" ? UNSIGNED_LONG : undefined;
}

/**
 * A number as it was written. Integers are exact.
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

/** A number as a field of doubles holds it. */
export function heldNumber({ mapping }: Field, value: number | bigint): number {
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

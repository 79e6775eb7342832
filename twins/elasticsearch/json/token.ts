import { compactJson, isScalar, membersOf } from "./write.ts";

/** A text, a number or a boolean; `bigint` for an integer beyond 2^53. */
export type ScalarJson = string | number | bigint | boolean;

export function isScalarJson(value: unknown): value is ScalarJson {
  return ["string", "number", "bigint", "boolean"].includes(typeof value);
}

/** The token that a JSON value begins with. */
export type ValueToken =
  | "START_OBJECT"
  | "START_ARRAY"
  | "VALUE_STRING"
  | "VALUE_NUMBER"
  | "VALUE_BOOLEAN"
  | "VALUE_NULL";

/** The vendor's name of a JSON value's kind, for errors. */
export function tokenOf(value: unknown): ValueToken {
  if (Array.isArray(value)) return "START_ARRAY";
  if (value === null) return "VALUE_NULL";
  switch (typeof value) {
    case "string":
      return "VALUE_STRING";
    case "boolean":
      return "VALUE_BOOLEAN";
    case "object":
      return "START_OBJECT";
    default:
      return "VALUE_NUMBER";
  }
}

/** Jackson's name, which distinguishes kinds of numbers and booleans. */
export function jacksonTokenOf(value: unknown): string {
  if (typeof value === "boolean") return value ? "VALUE_TRUE" : "VALUE_FALSE";
  if (typeof value === "bigint") return "VALUE_NUMBER_INT";
  // Integers beyond 2^53 are read as bigint; an unsafe integer here was written with an exponent or a fraction.
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? "VALUE_NUMBER_INT" : "VALUE_NUMBER_FLOAT";
  return tokenOf(value);
}

/** A JSON value as text; objects and arrays as JSON. */
export function textOf(value: unknown): string {
  return typeof value === "object" && value !== null ? compactJson(value) : String(value);
}

/** A JSON value as Java prints its map or list: `{a=1, b=[x, y]}`. */
export function javaText(value: unknown): string {
  if (typeof value === "string") return value;
  if (isScalar(value)) return compactJson(value);
  if (Array.isArray(value)) return `[${value.map(javaText).join(", ")}]`;
  return `{${membersOf(value)
    .map(([name, member]) => `${name}=${javaText(member)}`)
    .join(", ")}}`;
}

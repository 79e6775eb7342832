/** Reading the members of a search body, with the vendor's words about what is wrong with one. */
import { illegal } from "../api/parameters.ts";
import { BodyError } from "../json/object-parser.ts";
import type { Json, JsonObject } from "../json/read.ts";
import { tokenOf } from "../json/token.ts";
import { VendorError } from "../vendor-error.ts";

export function objectOf(name: string, value: Json): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new UnknownKey(name, value);
}

export function booleanOf(name: string, value: Json): boolean {
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  throw illegal(
    `Failed to parse value [${scalarText(name, value)}] as only [true] or [false] are allowed for [${name}].`,
  );
}

export function integerOf(name: string, value: Json): number {
  const number = typeof value === "string" ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && Math.abs(number) < 2 ** 31) return number;
  if (typeof value === "object") throw new UnknownKey(name, value);
  throw new VendorError(400, {
    type: "x_content_parse_exception",
    reason: `[1:1] [${name}] failed to parse value [${String(value)}]`,
    caused_by: { type: "number_format_exception", reason: `For input string: "${String(value)}"` },
  });
}

export function notNegative(name: string, value: number): number {
  if (value >= 0) return value;
  throw illegal(`[${name}] parameter cannot be negative, found [${value}]`);
}

/** The text of a value that is neither an object nor an array nor null. @throws UnknownKey */
export function scalarText(name: string, value: Json): string {
  if (typeof value === "object") throw new UnknownKey(name, value);
  return String(value);
}

/** @throws UnknownKey for an object, an array or null; VendorError for a text that is no number */
export function numberOf(name: string, value: Json): number {
  const text = scalarText(name, value);
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isNaN(number) && typeof value !== "boolean") return number;
  throw new VendorError(400, { type: "number_format_exception", reason: `For input string: "${text}"` });
}

/** A time that limits; negative: none does. */
export function limit(ms: number): number | undefined {
  return ms < 0 ? undefined : ms;
}

/** Whether nothing is asked for by it. */
export function isEmpty(value: Json): boolean {
  if (value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** A member of the vendor's that this twin does not serve. */
export class UnservedKey extends VendorError {
  constructor(reason: string) {
    super(400, { type: "illegal_argument_exception", reason });
  }
}

/** A member that a search does not have, or not with such a value. */
export class UnknownKey extends BodyError {
  constructor(name: string, value: Json) {
    const reason = `Unknown key for a ${tokenOf(value)} in [${name}].`;
    super([name], (position) => ({ type: "parsing_exception", reason, ...position }));
  }
}

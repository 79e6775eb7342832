/** Reading the options of a clause: each by its name, with the vendor's leniency about how values are written. */

import { emptyRecord } from "../../../sandbox/lookup-table.ts";
import { VendorError } from "../../vendor-error.ts";
import type { JsonPath } from "../compiled-query.ts";
import { illegalArgument, parsingError } from "../errors.ts";
import { isObject, type Parser } from "./parser.ts";
import type { Scalar } from "./query.ts";

/** Where an option stands, and what reads it. */
export interface Place {
  readonly parser: Parser;
  readonly clause: string;
  readonly option: string;
  readonly path: JsonPath;
}

export type OptionReader<T> = (value: unknown, place: Place) => T;
type OptionReaders = Record<string, OptionReader<unknown>>;
export type Options<R extends OptionReaders> = { [K in keyof R]: ReturnType<R[K]> | undefined };

/** How a clause words that it does not know an option. */
export type Unknown = (parser: Parser, clause: string, option: string, path: JsonPath) => VendorError;

const unsupported: Unknown = (parser, clause, option, path) => parser.unsupported(clause, option, path);

/**
 * Reads an object of options; what is absent or null is `undefined`.
 * @throws VendorError for an option that is not among them
 */
export function readOptions<R extends OptionReaders>(
  parser: Parser,
  json: Record<string, unknown>,
  path: JsonPath,
  clause: string,
  readers: R,
  unknown: Unknown = unsupported,
): Options<R> {
  const read = emptyRecord<unknown>();
  for (const option of Object.keys(readers)) read[option] = undefined;
  for (const [option, value] of Object.entries(json)) {
    const reader = Object.hasOwn(readers, option) ? readers[option] : undefined;
    if (!reader) throw unknown(parser, clause, option, [...path, option]);
    if (value !== null) read[option] = reader(value, { parser, clause, option, path: [...path, option] });
  }
  return read as Options<R>;
}

export const text: OptionReader<string> = (value, place) => String(scalar(value, place));

export const scalar: OptionReader<Scalar> = (value, { parser, clause, option, path }) => {
  if (isScalar(value)) return value;
  const found = Array.isArray(value) ? "START_ARRAY" : "START_OBJECT";
  throw parsingError(
    `[${clause}] query does not support [${option}]: unexpected token [${found}]`,
    parser.at(path),
  );
};

export const float: OptionReader<number> = (value, place) => Math.fround(double(value, place));

export const double: OptionReader<number> = (value, place) => {
  const written = scalar(value, place);
  const number = typeof written === "boolean" || written === "" ? Number.NaN : Number(written);
  if (!Number.isNaN(number)) return number;
  throw new VendorError(400, {
    type: "number_format_exception",
    reason: `For input string: "${String(written)}"`,
  });
};

export const integer: OptionReader<number> = (value, place) => Math.trunc(double(value, place));

export const flag: OptionReader<boolean> = (value, place) => {
  const written = scalar(value, place);
  if (written === true || written === "true") return true;
  if (written === false || written === "false") return false;
  throw illegalArgument(`Failed to parse value [${String(written)}] as only [true] or [false] are allowed.`);
};

/** `boost`, which is never negative. */
export const boost: OptionReader<number> = (value, place) => {
  const factor = float(value, place);
  if (factor >= 0) return factor;
  throw illegalArgument(
    `negative [boost] are not allowed in [${place.clause}], use a value between 0 and 1 to deboost`,
  );
};

/** One of some words, in any case. */
export function oneOf<T extends string>(words: readonly T[], refuse: (written: string) => VendorError) {
  return (value: unknown, place: Place): T => {
    const written = text(value, place);
    const found = words.find((word) => word === written.toLowerCase());
    if (found === undefined) throw refuse(written);
    return found;
  };
}

/** An option that changes nothing here: how terms are collected, how many states an automaton may have. */
export const ignored: OptionReader<unknown> = (value) => value;

/** What every clause has. */
export const common = { boost, _name: text };

export function commonOf({ boost, _name }: { boost: number | undefined; _name: string | undefined }) {
  return { boost: boost ?? 1, name: _name };
}

export function isScalar(value: unknown): value is Scalar {
  return (
    typeof value === "string" ||
    typeof value === "number" ||
    typeof value === "bigint" ||
    typeof value === "boolean"
  );
}

/** A field with what is asked of it. */
export interface FieldBody {
  field: string;
  body: unknown;
  path: JsonPath;
}

/**
 * `{ FIELD: … }`, the one member of a clause on one field.
 * @param beside options that may stand beside the field in this clause
 */
export function fieldBody(
  parser: Parser,
  json: Record<string, unknown>,
  path: JsonPath,
  clause: string,
  beside: readonly string[] = [],
): FieldBody {
  const names = Object.keys(json).filter((name) => !beside.includes(name));
  const [field, second] = names;
  if (field === undefined) throw illegalArgument("field name is null or empty");
  if (second !== undefined) {
    throw parsingError(
      `[${clause}] query doesn't support multiple fields, found [${field}] and [${second}]`,
      parser.at([...path, second]),
    );
  }
  const body = json[field];
  if (Array.isArray(body)) {
    throw parsingError(
      `[${clause}] unknown token [START_ARRAY] after [${field}]`,
      parser.at([...path, field]),
    );
  }
  return { field, body, path: [...path, field] };
}

/**
 * `{ FIELD: { … } }`, the one member of a clause on one field, with its options; a bare value stands for
 * `{ [shortFor]: value }`.
 */
export function readFieldOptions<R extends OptionReaders>(
  parser: Parser,
  json: Record<string, unknown>,
  path: JsonPath,
  clause: string,
  shortFor: string,
  readers: R,
): { field: string; path: JsonPath; options: Options<R> } {
  const { field, body, path: at } = fieldBody(parser, json, path, clause);
  const long = isObject(body) ? body : { [shortFor]: body };
  return { field, path: at, options: readOptions(parser, long, at, clause, readers) };
}

/** A value that must be there. */
export function required<T>(value: T | undefined, missing: string): T {
  if (value === undefined) throw illegalArgument(missing);
  return value;
}

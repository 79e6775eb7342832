/** Readers for the options of a clause, as lenient about notation as the vendor's. */

import { emptyRecord } from "@offhook/platform/base/lookup-table";
import type { ContentParser } from "../../json/content-parser.ts";
import { illegalArgument, type VendorError } from "../../vendor/error.ts";
import type { Parser } from "./parser.ts";
import type { Scalar } from "./query.ts";

/** Reads the value at the current token. */
export type OptionReader<T> = (content: ContentParser, parser: Parser) => T;
type OptionReaders = Readonly<Record<string, OptionReader<unknown>>>;
export type Options<R extends OptionReaders> = { [K in keyof R]: ReturnType<R[K]> | undefined };

/** Reads options one by one, in the order of the text. */
export class OptionTable<R extends OptionReaders> {
  /** The options so far; `undefined` for those not read. */
  readonly options: Options<R>;
  readonly #read = emptyRecord<unknown>();
  readonly #parser: Parser;
  readonly #readers: R;

  constructor(parser: Parser, readers: R) {
    this.#parser = parser;
    this.#readers = readers;
    for (const option of Object.keys(readers)) this.#read[option] = undefined;
    this.options = this.#read as Options<R>;
  }

  /** Reads the option at the current token. @returns false when the table does not have it */
  take(names: readonly string[] = Object.keys(this.#readers)): boolean {
    const { content } = this.#parser;
    const reader = names.includes(content.name) ? this.#readers[content.name] : undefined;
    if (!reader) return false;
    this.#read[content.name] = reader(content, this.#parser);
    return true;
  }
}

/** Walks the object at the current token to its end, and calls `read` at the first token of each value. */
export function eachMember(content: ContentParser, read: () => void): void {
  let { name } = content;
  for (let token = content.next(); token !== "END_OBJECT"; token = content.next()) {
    if (token === undefined) return;
    if (token === "FIELD_NAME") name = content.name;
    else {
      // Reading the previous value may have changed the name.
      content.name = name;
      read();
    }
  }
}

/** Reads options with scalar values only. @throws VendorError for any other value */
export function readValues<R extends OptionReaders>(parser: Parser, clause: string, readers: R): Options<R> {
  const table = new OptionTable(parser, readers);
  eachMember(parser.content, () => {
    if (!parser.content.isValue) throw unknownToken(parser.content, clause);
    if (!table.take()) throw unsupported(parser.content, clause);
  });
  return table.options;
}

/** Reads options with values of any kind; their readers check them. @throws VendorError */
export function readAny<R extends OptionReaders>(parser: Parser, clause: string, readers: R): Options<R> {
  const table = new OptionTable(parser, readers);
  eachMember(parser.content, () => {
    if (!table.take()) throw unsupported(parser.content, clause);
  });
  return table.options;
}

/** `[range] query does not support [foo]` */
export function unsupported(content: ContentParser, clause: string): VendorError {
  return content.error(`[${clause}] query does not support [${content.name}]`);
}

/** `[match] unknown token [START_ARRAY] after [query]` */
export function unknownToken(content: ContentParser, clause: string): VendorError {
  return content.error(`[${clause}] unknown token [${content.token}] after [${content.name}]`);
}

export const text: OptionReader<string> = (content) => content.text();
export const textOrNull: OptionReader<string | undefined> = (content) => content.textOrNull();
export const scalar: OptionReader<Scalar | undefined> = (content) => content.scalar();
export const scalarOrBracket: OptionReader<Scalar | undefined> = (content) => content.scalarOrBracket();
export const float: OptionReader<number> = (content) => content.float();
export const double: OptionReader<number> = (content) => content.double();
export const integer: OptionReader<number> = (content) => content.integer();
export const flag: OptionReader<boolean> = (content) => content.boolean();

/** Reads one of some words, ignoring case. */
export function oneOf<T extends string>(
  words: readonly T[],
  refuse: (written: string, content: ContentParser) => VendorError,
): OptionReader<T> {
  return (content) => {
    const written = content.text();
    const found = words.find((word) => word === written.toLowerCase());
    if (found === undefined) throw refuse(written, content);
    return found;
  };
}

/** The options of every clause. */
export const common = { boost: float, _name: text };

/** @throws VendorError for a boost below 0 */
export function commonOf(
  { boost = 1, _name }: { boost?: number | undefined; _name?: string | undefined },
  clause: string,
) {
  return { boost: positiveBoost(boost, clause), name: _name };
}

export function positiveBoost(boost: number, clause: string): number {
  if (!(boost < 0)) return boost;
  throw illegalArgument(
    `negative [boost] are not allowed in [${clause}], use a value between 0 and 1 to deboost`,
  );
}

/** A field with its options, or with the short form: one value. */
export interface FieldOptions<O, V> {
  field: string | undefined;
  options: O | undefined;
  short: V | undefined;
}

/**
 * Reads `{ FIELD: { … } }`, the body of a clause on one field, or the short form `{ FIELD: value }`.
 * @throws VendorError for a second field
 */
export function readField<O, V>(
  { content }: Parser,
  clause: string,
  readOptions: () => O,
  readShort: () => V,
): FieldOptions<O, V> {
  const read: FieldOptions<O, V> = { field: undefined, options: undefined, short: undefined };
  eachMember(content, () => {
    checkOneField(content, clause, read.field);
    read.field = content.name;
    if (content.token === "START_OBJECT") read.options = readOptions();
    else read.short = readShort();
  });
  return read;
}

export function checkOneField(content: ContentParser, clause: string, field: string | undefined): void {
  if (field === undefined) return;
  throw content.error(
    `[${clause}] query doesn't support multiple fields, found [${field}] and [${content.name}]`,
  );
}

/** Returns a value, and refuses its absence. */
export function required<T>(value: T | undefined, missing: string): T {
  if (value === undefined) throw illegalArgument(missing);
  return value;
}

/** Returns a field name, and refuses an empty one. */
export function requiredField(field: string | undefined, missing = "field name is null or empty"): string {
  if (field === undefined || field === "") throw illegalArgument(missing);
  return field;
}

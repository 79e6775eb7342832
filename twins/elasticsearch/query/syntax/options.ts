/** Reading the options of a clause: each by its name, with the vendor's leniency about how values are written. */

import { emptyRecord } from "@offhook/platform/base/lookup-table";
import type { ContentParser } from "../../json/content-parser.ts";
import { illegalArgument, type VendorError } from "../../vendor/error.ts";
import type { Parser } from "./parser.ts";
import type { Scalar } from "./query.ts";

/** Makes something of the value at the current token. */
export type OptionReader<T> = (content: ContentParser, parser: Parser) => T;
type OptionReaders = Readonly<Record<string, OptionReader<unknown>>>;
export type Options<R extends OptionReaders> = { [K in keyof R]: ReturnType<R[K]> | undefined };

/** Options that are read one by one, as they come. */
export class OptionTable<R extends OptionReaders> {
  /** What has been read; what has not is `undefined`. */
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

  /** Reads the option at the current token. @returns false when it is none of the table's */
  take(names: readonly string[] = Object.keys(this.#readers)): boolean {
    const { content } = this.#parser;
    const reader = names.includes(content.name) ? this.#readers[content.name] : undefined;
    if (!reader) return false;
    this.#read[content.name] = reader(content, this.#parser);
    return true;
  }
}

/** Goes through the object that begins at the current token, to its end; `read` sees the first token of each value. */
export function eachMember(content: ContentParser, read: () => void): void {
  let { name } = content;
  for (let token = content.next(); token !== "END_OBJECT"; token = content.next()) {
    if (token === undefined) return;
    if (token === "FIELD_NAME") name = content.name;
    else {
      // What was read within the value before has left its own.
      content.name = name;
      read();
    }
  }
}

/** Options whose values are texts, numbers or booleans; anything else is refused. @throws VendorError */
export function readValues<R extends OptionReaders>(parser: Parser, clause: string, readers: R): Options<R> {
  const table = new OptionTable(parser, readers);
  eachMember(parser.content, () => {
    if (!parser.content.isValue) throw unknownToken(parser.content, clause);
    if (!table.take()) throw unsupported(parser.content, clause);
  });
  return table.options;
}

/** Options whose values are as their readers find them. @throws VendorError */
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

/** One of some words, in any case. */
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

/** An option that changes nothing here: how terms are collected, how many states an automaton may have. */
export const ignored: OptionReader<true> = (content) => {
  content.skipChildren();
  return true;
};

/** What every clause has. */
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

/** A field with what is asked of it: options, or a value that stands for one of them. */
export interface FieldOptions<O, V> {
  field: string | undefined;
  options: O | undefined;
  short: V | undefined;
}

/**
 * `{ FIELD: { … } }`, the one member of a clause on one field, or `{ FIELD: value }`.
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

/** A value that must be there. */
export function required<T>(value: T | undefined, missing: string): T {
  if (value === undefined) throw illegalArgument(missing);
  return value;
}

/** The field that a clause is about. */
export function requiredField(field: string | undefined, missing = "field name is null or empty"): string {
  if (field === undefined || field === "") throw illegalArgument(missing);
  return field;
}

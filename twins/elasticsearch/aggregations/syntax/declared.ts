/**
 * Objects with declared members, as the vendor's `ObjectParser` reads them: in the order of the text, each value first by its
 * kind and then by what it says, so that the first mistake of the text is the one that is told.
 */
import { LocatedError, placeText, type Spot } from "../../json/located-error.ts";
import { tokenOf } from "../../json/token.ts";
import type { JsonPath } from "../../query/compiled-query.ts";
import { didYouMean } from "../../vendor/did-you-mean.ts";
import { type ErrorCause, VendorError } from "../../vendor/error.ts";
import { argumentError } from "../errors.ts";
import type { JsonRecord } from "../options.ts";

/** Where a value stands. */
export interface Place {
  readonly path: JsonPath;
  /** Name of the aggregation. */
  readonly name: string;
}

export interface Member {
  /** Kinds of values that it takes, by their tokens. */
  readonly tokens: readonly string[];
  /** The name that it is a further one for. */
  readonly as?: string;
  /** @returns the value as one of its type @throws VendorError */
  read(value: unknown, place: Place, before: JsonRecord): unknown;
}

export interface Syntax {
  readonly members: Readonly<Record<string, Member>>;
  /** Members of which one has to be there: `[["field", "script"]]`. */
  readonly required?: readonly (readonly string[])[];
  /** Checks that need the whole object. @throws VendorError */
  readonly check?: (values: JsonRecord, place: Place) => void;
}

/** @param parser as errors name it: `terms` @returns the members that are there, each as one of its type */
export function readDeclared(parser: string, syntax: Syntax, json: JsonRecord, place: Place): JsonRecord {
  const { members, required = [], check } = syntax;
  const values = new Map<string, unknown>();
  for (const [member, value] of Object.entries(json)) {
    const path = [...place.path, member];
    const declared = Object.hasOwn(members, member) ? members[member] : undefined;
    if (!declared) throw unknownMember(parser, member, members, path);
    if (!declared.tokens.includes(tokenOf(value))) {
      throw contentError(
        { path, what: "value" },
        `[${parser}] ${member} doesn't support values of type: ${tokenOf(value)}`,
      );
    }
    try {
      values.set(declared.as ?? member, declared.read(value, { ...place, path }, Object.fromEntries(values)));
    } catch (error) {
      throw error instanceof VendorError ? failedMember(parser, member, path, error) : error;
    }
  }
  for (const names of required) {
    if (names.some((name) => values.has(name))) continue;
    throw argumentError(`Required one of fields [${names.join(", ")}], but none were specified. `);
  }
  const read = Object.fromEntries(values);
  check?.(read, place);
  return read;
}

/** `[1:17] [terms] …` */
export function contentError(cursor: Spot, reason: string): LocatedError {
  return new LocatedError(cursor, (find) => ({
    type: "x_content_parse_exception",
    reason: `${placeText(find(cursor))} ${reason}`,
  }));
}

/** The parser has read the value's first token by the time that it looks the name up. */
function unknownMember(
  parser: string,
  member: string,
  known: Syntax["members"],
  path: JsonPath,
): LocatedError {
  const hint = didYouMean(member, Object.keys(known));
  const { causeAt } = contentError({ path, what: "name" }, `[${parser}] unknown field [${member}]${hint}`);
  return new LocatedError({ path, what: "value" }, causeAt);
}

function failedMember(parser: string, member: string, path: JsonPath, error: VendorError): LocatedError {
  const located = error instanceof LocatedError ? error : undefined;
  const cursor = located?.cursor ?? { path, what: "value" };
  return new LocatedError(cursor, (find) => ({
    type: "x_content_parse_exception",
    reason: `${placeText(find(cursor))} [${parser}] failed to parse field [${member}]`,
    caused_by: located ? located.causeAt(find) : error.cause,
  }));
}

/** An object whose last member has come, and which cannot be made of them. */
export function unbuildable(parser: string, cause: ErrorCause): VendorError {
  return new VendorError(400, {
    type: "x_content_parse_exception",
    reason: `Failed to build [${parser}] after last required field arrived`,
    caused_by: cause,
  });
}

/** A mistake at the place where the parser stands. */
export function failedAt(cursor: Spot, cause: ErrorCause): LocatedError {
  return new LocatedError(cursor, () => cause);
}

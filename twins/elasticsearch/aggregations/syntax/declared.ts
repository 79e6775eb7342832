/**
 * Reads objects with declared members like the vendor's `ObjectParser`: in text order, and for each value first its token and then
 * its content, so that the same first error is reported.
 */
import { LocatedError, placeText, type Spot } from "../../json/located-error.ts";
import type { JsonPath } from "../../json/position.ts";
import { tokenOf } from "../../json/token.ts";
import { didYouMean } from "../../vendor/did-you-mean.ts";
import { type ErrorCause, VendorError } from "../../vendor/error.ts";
import { argumentError } from "../errors.ts";
import type { JsonRecord } from "../options.ts";

/** The position of a value. */
export interface Place {
  readonly path: JsonPath;
  /** Name of the aggregation. */
  readonly name: string;
}

export interface Member {
  /** The accepted tokens. */
  readonly tokens: readonly string[];
  /** The main name, if this one is an alias. */
  readonly as?: string;
  /** @returns the value in the member's type @throws VendorError */
  read(value: unknown, place: Place, before: JsonRecord): unknown;
}

export interface Syntax {
  readonly members: Readonly<Record<string, Member>>;
  /** Groups of members of which one is required: `[["field", "script"]]`. */
  readonly required?: readonly (readonly string[])[];
  /** Checks that need the whole object. @throws VendorError */
  readonly check?: (values: JsonRecord, place: Place) => void;
}

/** @param parser its name in errors: `terms` @returns the members present, each in its type */
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

/** The parser looks a name up after reading the value's first token, so the cursor is at the value. */
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

/** The error for an object that is complete and invalid as a whole. */
export function unbuildable(parser: string, cause: ErrorCause): VendorError {
  return new VendorError(400, {
    type: "x_content_parse_exception",
    reason: `Failed to build [${parser}] after last required field arrived`,
    caused_by: cause,
  });
}

/** An error at the parser's position. */
export function failedAt(cursor: Spot, cause: ErrorCause): LocatedError {
  return new LocatedError(cursor, () => cause);
}

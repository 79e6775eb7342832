/**
 * Reads objects with declared members, as the vendor reads most bodies other than queries. Refuses values of another kind with their
 * position, and wraps errors inside a member. Source: `ObjectParser` of 8.15.
 */

import { didYouMean } from "../vendor/did-you-mean.ts";
import { VendorError } from "../vendor/error.ts";
import { contentError } from "./content-error.ts";
import type { ContentParser, Token } from "./content-parser.ts";

/** A declared member: its first tokens and its reader. */
export interface Field<Target> {
  readonly tokens: readonly Token[];
  /** Reads the value at the current token, and stops at its last token. */
  read(content: ContentParser, target: Target): void;
}

type Read<Value, Target> = (value: Value, target: Target) => void;

export class ObjectParser<Target> {
  readonly #name: string;
  readonly #fields: ReadonlyMap<string, Field<Target>>;

  /** @param name in errors: `field_sort` */
  constructor(name: string, fields: Readonly<Record<string, Field<Target>>>) {
    this.#name = name;
    this.#fields = new Map(Object.entries(fields));
  }

  /** Reads the object at the current token or the next one. @throws VendorError */
  parse(content: ContentParser, target: Target): Target {
    if (content.token !== "START_OBJECT" && content.next() !== "START_OBJECT") {
      throw this.#error(content, `Expected START_OBJECT but was: ${content.token}`);
    }
    let nameAt = content.location;
    while (content.next() !== "END_OBJECT") {
      if (content.token === "FIELD_NAME") {
        nameAt = content.location;
        continue;
      }
      const { name } = content;
      const field = this.#fields.get(name);
      if (!field) {
        const known = [...this.#fields.keys()];
        throw contentError(`[${this.#name}] unknown field [${name}]${didYouMean(name, known)}`, nameAt);
      }
      if (content.token === undefined || !field.tokens.includes(content.token)) {
        throw this.#error(content, `${name} doesn't support values of type: ${content.token}`);
      }
      try {
        field.read(content, target);
      } catch (error) {
        if (!(error instanceof VendorError)) throw error;
        throw contentError(`[${this.#name}] failed to parse field [${name}]`, content.location, error);
      }
    }
    return target;
  }

  #error(content: ContentParser, reason: string): VendorError {
    return contentError(`[${this.#name}] ${reason}`, content.location);
  }
}

const numbers: readonly Token[] = ["VALUE_NUMBER", "VALUE_STRING"];
const scalars: readonly Token[] = ["VALUE_STRING", "VALUE_NUMBER", "VALUE_BOOLEAN", "VALUE_NULL"];

/** A text; numbers are refused. */
export function textField<Target>(read: Read<string, Target>): Field<Target> {
  return { tokens: ["VALUE_STRING"], read: (content, target) => read(content.text(), target) };
}

export function textOrNullField<Target>(read: Read<string | undefined, Target>): Field<Target> {
  return {
    tokens: ["VALUE_STRING", "VALUE_NULL"],
    read: (content, target) => read(content.textOrNull(), target),
  };
}

/** A text, or a list of scalars as texts. */
export function textsField<Target>(read: Read<string[], Target>): Field<Target> {
  return {
    tokens: ["START_ARRAY", "VALUE_STRING"],
    read: (content, target) =>
      read(
        itemsOf(content, () => content.text()),
        target,
      ),
  };
}

export function flagField<Target>(read: Read<boolean, Target>): Field<Target> {
  return {
    tokens: ["VALUE_BOOLEAN", "VALUE_STRING"],
    read: (content, target) => read(content.boolean(), target),
  };
}

export function integerField<Target>(read: Read<number, Target>): Field<Target> {
  return { tokens: numbers, read: (content, target) => read(content.integer(), target) };
}

export function floatField<Target>(read: Read<number, Target>): Field<Target> {
  return { tokens: numbers, read: (content, target) => read(content.float(), target) };
}

/** A text, a number, a boolean or null. */
export function scalarField<Target>(read: (content: ContentParser, target: Target) => void): Field<Target> {
  return { tokens: scalars, read };
}

export function objectField<Target>(read: (content: ContentParser, target: Target) => void): Field<Target> {
  return { tokens: ["START_OBJECT"], read };
}

/** Reads one item or a list of items; refuses nested lists. @throws VendorError */
export function itemsOf<Item>(content: ContentParser, item: () => Item): Item[] {
  if (content.token !== "START_ARRAY") return [item()];
  const items: Item[] = [];
  for (let token = content.next(); token !== "END_ARRAY"; token = content.next()) {
    if (!content.isValue && token !== "VALUE_NULL" && token !== "START_OBJECT") {
      throw new VendorError(400, {
        type: "illegal_state_exception",
        reason: `expected value but got [${token}]`,
      });
    }
    items.push(item());
  }
  return items;
}

/** Searches of one field, in a form that lets the same search of many fields run together. See `search-fields.ts`. */
import type { Field } from "@offhook/log-store/fields";
import type { Sql } from "@offhook/log-store/sql";
import type { Fuzzy } from "../syntax/query.ts";
import type { Target } from "./target.ts";

/** A search of one field. The score is the sum over the matching parts; at least `minimum` of their terms must match. */
export interface FieldSearch {
  /** `keyword` only with the part `fuzzy`. */
  readonly target: Extract<Target, { kind: "words" | "keyword" }>;
  readonly boost: number;
  readonly parts: readonly FieldPart[];
  readonly minimum: number;
}

export type FieldPart =
  /** Each term scores by itself. */
  | { readonly kind: "words"; readonly words: readonly SearchedWord[] }
  | { readonly kind: "phrase"; readonly slots: readonly Slot[]; readonly slop: number }
  /** The terms with a prefix, each scored as if it were searched itself. */
  | { readonly kind: "expanded"; readonly slot: PrefixSlot }
  /** Any term that meets a condition on `term`; scores the boost. */
  | { readonly kind: "condition"; readonly condition: Sql }
  | { readonly kind: "fuzzy"; readonly word: string; readonly changes: number; readonly fuzzy: Fuzzy };

export interface SearchedWord {
  readonly term: string;
  readonly times: number;
}

/** One position of a phrase: a word, or (at the last position) any word with a prefix. */
export type Slot = { readonly kind: "word"; readonly term: string; readonly place: number } | PrefixSlot;

export interface PrefixSlot {
  readonly kind: "prefix";
  readonly prefix: string;
  /** Relative position in the phrase: a stop word leaves a gap. */
  readonly place: number;
  readonly maxExpansions: number;
}

/** The postings in which a phrase is searched. */
export interface PhrasePlaces {
  /** Key columns of a text: `_row`, preceded by `field` where several fields are searched. */
  readonly keys: Sql;
  /** The occurrences of a slot's words: the keys, `position, frequency, length`. */
  place(slot: Slot): Sql;
}

/** A whole value to match in a field, scored as a keyword. */
export interface WholeValue {
  readonly field: Field;
  readonly value: string | boolean;
  readonly boost: number;
}

/** Searches of different fields with equal shapes can run together. */
export function shapeOf({ target, parts, minimum }: FieldSearch): string {
  return JSON.stringify([target.kind, parts, minimum]);
}

/** Resolves the field names of a query. */
import type { Field, FieldCatalog } from "@offhook/log-store/fields";
import { keywordsOf, mappedType } from "../../indices/field-types.ts";
import type { QueryContext, TermStatistics } from "../compiled-query.ts";

/** `words`: analysed text. `keyword`: whole texts. `missing`: no such field, so no document matches. */
export type Target =
  | {
      readonly kind: "words";
      readonly name: string;
      readonly field: Field;
      readonly postings: string;
      readonly termStatistics: TermStatistics | undefined;
    }
  | {
      readonly kind: "keyword";
      readonly name: string;
      readonly field: Field;
      /** Longer values are not indexed; absent: all are. */
      readonly ignoreAbove: number | undefined;
    }
  | { readonly kind: "number"; readonly name: string; readonly field: Field }
  | { readonly kind: "date"; readonly name: string; readonly field: Field }
  | { readonly kind: "boolean"; readonly name: string; readonly field: Field }
  | { readonly kind: "ip"; readonly name: string; readonly field: Field }
  | { readonly kind: "meta"; readonly name: "_id" | "_index" }
  | { readonly kind: "missing"; readonly name: string };

/** An analysed field. */
export type WordsTarget = Extract<Target, { kind: "words" }>;

/** The type of a target, as errors name it. */
export function typeName(target: Exclude<Target, { kind: "missing" }>): string {
  if (target.kind === "meta") return target.name;
  // A keyword sub-field of a text shares the text's field.
  return target.kind === "keyword" && target.field.type === "text" ? "keyword" : mappedType(target.field);
}

/** What a clause compares: whole values (`term`, `range`, …) or words (`match`, `query_string`). */
export type Purpose = "whole" | "words";

/** The text behind the name of a keyword sub-field. */
export function textBehind(
  fields: FieldCatalog,
  name: string,
): { field: Field; ignoreAbove: number } | undefined {
  const dot = name.lastIndexOf(".");
  const field = dot < 0 ? undefined : fields.get(name.slice(0, dot));
  const ignoreAbove = field && keywordsOf(field).get(name.slice(dot + 1));
  return field && ignoreAbove !== undefined ? { field, ignoreAbove } : undefined;
}

const SUFFIX = ".keyword";

/**
 * Resolves a name. In `specification` a name and its `.keyword` are one field, and the clause chooses between words and whole values;
 * in `vendor` the name is analysed text and `.keyword` the whole text.
 */
export function targetOf(
  { fields, fidelity, termStatistics }: Pick<QueryContext, "fields" | "fidelity" | "termStatistics">,
  name: string,
  purpose: Purpose,
): Target {
  if (name === "_id" || name === "_index") return { kind: "meta", name };
  const own = fields.get(name);
  if (own) return typedTarget(own, name, fidelity === "vendor" ? "words" : purpose, termStatistics);
  if (fidelity === "vendor") {
    const behind = textBehind(fields, name);
    return behind ? { kind: "keyword", name, ...behind } : { kind: "missing", name };
  }
  const whole = name.endsWith(SUFFIX) ? fields.get(name.slice(0, -SUFFIX.length)) : undefined;
  return whole ? typedTarget(whole, name, purpose, termStatistics) : { kind: "missing", name };
}

/** Applies a keyword's normalizer. */
export function normalize({ field }: { readonly field: Field }, text: string): string {
  return field.mapping?.normalize?.(text) ?? text;
}

function typedTarget(
  field: Field,
  name: string,
  purpose: Purpose,
  termStatistics: TermStatistics | undefined,
): Target {
  if (field.type === "date" || field.type === "boolean" || field.type === "ip")
    return { kind: field.type, name, field };
  if (field.type === "keyword") return { kind: "keyword", name, field, ignoreAbove: undefined };
  if (field.type !== "text") return { kind: "number", name, field };
  const { postings } = field;
  return purpose === "words" && postings !== undefined
    ? { kind: "words", name, field, postings, termStatistics }
    : { kind: "keyword", name, field, ignoreAbove: undefined };
}

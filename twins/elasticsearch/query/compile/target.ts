/** What a field's name in a query means. */

import type { Field, FieldCatalog } from "@offhook/log-store/fields";
import { keywordsOf, mappedType } from "../../indices/field-types.ts";
import type { Figures, QueryContext } from "../compiled-query.ts";

/** `words`: analysed text. `keyword`: whole texts. `missing`: no such field, so nothing matches. */
export type Target =
  | {
      readonly kind: "words";
      readonly name: string;
      readonly field: Field;
      readonly postings: string;
      readonly figures: Figures | undefined;
    }
  | {
      readonly kind: "keyword";
      readonly name: string;
      readonly field: Field;
      /** Longer values are not found; absent: every value that the field has is. */
      readonly ignoreAbove: number | undefined;
    }
  | { readonly kind: "number"; readonly name: string; readonly field: Field }
  | { readonly kind: "date"; readonly name: string; readonly field: Field }
  | { readonly kind: "boolean"; readonly name: string; readonly field: Field }
  | { readonly kind: "ip"; readonly name: string; readonly field: Field }
  | { readonly kind: "meta"; readonly name: "_id" | "_index" }
  | { readonly kind: "missing"; readonly name: string };

/** The type of what a name means, as an error names it. */
export function typeName(target: Exclude<Target, { kind: "missing" }>): string {
  if (target.kind === "meta") return target.name;
  // A sub-field of a text has no field of its own.
  return target.kind === "keyword" && target.field.type === "text" ? "keyword" : mappedType(target.field);
}

/** What a clause looks at: whole values (`term`, `range`, …), or words (`match`, `query_string`). */
export type Purpose = "whole" | "words";

/** The text whose whole values a name means, when it is the name of such a sub-field. */
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
 * In `specification` a name and its `.keyword` are one field, and the clause says whether it looks at words; in `vendor` the
 * name itself is analysed text and `.keyword` is the whole text.
 */
export function targetOf(
  { fields, fidelity, figures }: Pick<QueryContext, "fields" | "fidelity" | "figures">,
  name: string,
  purpose: Purpose,
): Target {
  if (name === "_id" || name === "_index") return { kind: "meta", name };
  const own = fields.get(name);
  if (own) return typed(own, name, fidelity === "vendor" ? "words" : purpose, figures);
  if (fidelity === "vendor") {
    const behind = textBehind(fields, name);
    return behind ? { kind: "keyword", name, ...behind } : { kind: "missing", name };
  }
  const whole = name.endsWith(SUFFIX) ? fields.get(name.slice(0, -SUFFIX.length)) : undefined;
  return whole ? typed(whole, name, purpose, figures) : { kind: "missing", name };
}

/** A text as a keyword's normalizer makes it. */
export function normalized({ field }: { readonly field: Field }, text: string): string {
  return field.mapping?.normalize?.(text) ?? text;
}

function typed(field: Field, name: string, purpose: Purpose, figures: Figures | undefined): Target {
  if (field.type === "date" || field.type === "boolean" || field.type === "ip")
    return { kind: field.type, name, field };
  if (field.type === "keyword") return { kind: "keyword", name, field, ignoreAbove: undefined };
  if (field.type !== "text") return { kind: "number", name, field };
  const { postings } = field;
  return purpose === "words" && postings !== undefined
    ? { kind: "words", name, field, postings, figures }
    : { kind: "keyword", name, field, ignoreAbove: undefined };
}

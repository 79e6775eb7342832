/** What a field's name in a query means. */
import type { Field } from "../../../datasets/fields.ts";
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
  | { readonly kind: "keyword"; readonly name: string; readonly field: Field }
  | { readonly kind: "number"; readonly name: string; readonly field: Field }
  | { readonly kind: "date"; readonly name: string; readonly field: Field }
  | { readonly kind: "boolean"; readonly name: string; readonly field: Field }
  | { readonly kind: "meta"; readonly name: "_id" | "_index" }
  | { readonly kind: "missing"; readonly name: string };

/** What a clause looks at: whole values (`term`, `range`, …), or words (`match`, `query_string`). */
export type Purpose = "whole" | "words";

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
  if (!name.endsWith(SUFFIX)) return { kind: "missing", name };
  const whole = fields.get(name.slice(0, -SUFFIX.length));
  if (!whole || (fidelity === "vendor" && whole.type !== "text")) return { kind: "missing", name };
  return typed(whole, name, fidelity === "vendor" ? "whole" : purpose, figures);
}

function typed(field: Field, name: string, purpose: Purpose, figures: Figures | undefined): Target {
  if (field.type === "date" || field.type === "boolean") return { kind: field.type, name, field };
  if (field.type !== "text") return { kind: "number", name, field };
  const { postings } = field;
  return purpose === "words" && postings !== undefined
    ? { kind: "words", name, field, postings, figures }
    : { kind: "keyword", name, field };
}

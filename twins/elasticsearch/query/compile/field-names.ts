/** Expands field names and patterns with `*`. */
import { matchesPattern } from "@offhook/platform/base/star-pattern";
import { namesOf } from "../../indices/field-types.ts";
import type { QueryContext } from "../compiled-query.ts";
import type { WeightedField } from "../syntax/query.ts";
import { orderByHash } from "./hash-order.ts";
import { targetOf } from "./target.ts";

/** The field names that a pattern matches. A plain name stays, even of a missing field, and then matches no document. */
export function fieldNames(context: QueryContext, pattern: string): string[] {
  if (!pattern.includes("*")) return [pattern];
  return allNames(context).filter((name) => matchesPattern(name, pattern));
}

/** Every searchable name. */
function allNames({ fields, fidelity }: QueryContext): string[] {
  return fields.all().flatMap((field) => (fidelity === "vendor" ? namesOf(field) : [field.name]));
}

/** Fields with their boosts, in the vendor's order: a sorted map of Java, copied into a hash map. */
export function weightedFields(context: QueryContext, fields: readonly WeightedField[]): Map<string, number> {
  const weighted = new Map<string, number>();
  for (const { pattern, boost } of fields) {
    for (const name of fieldNames(context, pattern)) {
      weighted.set(name, Math.fround((weighted.get(name) ?? 1) * boost));
    }
  }
  return orderByHash([...weighted].sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function isField(context: QueryContext, name: string): boolean {
  return targetOf(context, name, "whole").kind !== "missing";
}

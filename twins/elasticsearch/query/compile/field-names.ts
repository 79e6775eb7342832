/** Names of fields, some with `*`, as lists of names. */

import { matchesPattern } from "@offhook/platform/base/star-pattern";
import { namesOf } from "../../indices/field-types.ts";
import type { QueryContext } from "../compiled-query.ts";
import type { WeightedField } from "../syntax/query.ts";
import { inHashOrder } from "./hash-order.ts";
import { targetOf } from "./target.ts";

/** The fields that a name or a pattern means; a name that is none is kept, and matches nothing. */
export function fieldNames(context: QueryContext, pattern: string): string[] {
  if (!pattern.includes("*")) return [pattern];
  return allNames(context).filter((name) => matchesPattern(name, pattern));
}

/** Every name under which something can be looked for. */
function allNames({ fields, fidelity }: QueryContext): string[] {
  return fields.all().flatMap((field) => (fidelity === "vendor" ? namesOf(field) : [field.name]));
}

/** Fields with their boosts, in the order in which the vendor looks at them: those written are a sorted map of Java first. */
export function weightedFields(context: QueryContext, fields: readonly WeightedField[]): Map<string, number> {
  const weighted = new Map<string, number>();
  for (const { pattern, boost } of fields) {
    for (const name of fieldNames(context, pattern)) {
      weighted.set(name, Math.fround((weighted.get(name) ?? 1) * boost));
    }
  }
  return inHashOrder([...weighted].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether there is such a field. */
export function isField(context: QueryContext, name: string): boolean {
  return targetOf(context, name, "whole").kind !== "missing";
}

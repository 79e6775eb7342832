/**
 * `_ignored` of a hit: fields without a value because the document's value exceeds the mapping's `ignore_above`. Such
 * values exist in `_source` alone.
 */

import type { Field, FieldCatalog } from "@offhook/log-store/fields";
import { readLeaves } from "@offhook/log-store/store/json-leaves";
import { keywordsOf } from "../indices/field-types.ts";
import { ignoreAbove, nodeOf } from "../indices/mapped-field.ts";

/** Values that are in the document but not in its fields, by field name. */
export type IgnoredValues = ReadonlyMap<string, readonly string[]>;

const none: IgnoredValues = new Map();

/** Finds ignored values in documents of one index. */
export class IgnoredFields {
  /** Limits by sub-field, by the name that documents use. */
  readonly #limits = new Map<string, ReadonlyMap<string, number>>();
  readonly #shortest: number;

  constructor(fields: FieldCatalog) {
    for (const field of fields.all()) {
      const limits = limitsOf(field);
      if (limits.size > 0) this.#limits.set(field.name, limits);
    }
    this.#shortest = Math.min(...[...this.#limits.values()].flatMap((limits) => [...limits.values()]));
  }

  /** @param source the document as JSON text */
  of(source: string): IgnoredValues {
    if (source.length <= this.#shortest) return none;
    const found = new Map<string, string[]>();
    for (const { name, leaves } of readLeaves(source)) {
      for (const [ignoredBy, limit] of this.#limits.get(name) ?? []) {
        const values = leaves.flatMap(({ text }) => (text.length > limit ? [text] : []));
        if (values.length > 0) found.set(ignoredBy, values);
      }
    }
    return found;
  }
}

/** Keyword fields that a name fills, each with its longest indexed value. */
function limitsOf(field: Field): ReadonlyMap<string, number> {
  const limits = new Map<string, number>();
  for (const [sub, limit] of keywordsOf(field)) limits.set(`${field.name}.${sub}`, limit);
  const node = nodeOf(field);
  if (!node) return limits;
  if (field.type === "keyword") limits.set(field.name, ignoreAbove(node.parameters));
  for (const [sub, { type, parameters }] of node.fields) {
    if (type === "keyword") limits.set(`${field.name}.${sub}`, ignoreAbove(parameters));
  }
  return limits;
}

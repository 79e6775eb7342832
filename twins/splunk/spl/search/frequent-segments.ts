/**
 * What is known to be in many events is not counted again with every search. It stays so while more events are written. Where events
 * have been removed it may be rare by now: then it is still found, by a look at more of them.
 */
import type { FieldCatalog } from "@offhook/log-store/fields";
import type { Sql } from "@offhook/log-store/sql";

/** By the fields of a store, which are others when it has other content. */
const known = new WeakMap<FieldCatalog, Set<string>>();
const MOST_KNOWN = 1_000;
const LONGEST_KNOWN = 500;

/** @param most more rows than these are many */
export function isFrequent(fields: FieldCatalog, condition: Sql, most: number): boolean {
  return known.get(fields)?.has(keyOf(condition, most)) ?? false;
}

export function rememberFrequent(fields: FieldCatalog, condition: Sql, most: number): void {
  const key = keyOf(condition, most);
  const keys = known.get(fields) ?? new Set();
  if (keys.size >= MOST_KNOWN) keys.clear();
  if (key.length <= LONGEST_KNOWN) keys.add(key);
  known.set(fields, keys);
}

function keyOf({ text, values }: Sql, most: number): string {
  return `${most} ${text} ${JSON.stringify(values.map(String))}`;
}

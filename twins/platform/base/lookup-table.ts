/**
 * Records that are asked for names from outside. An object literal also answers to `constructor` and `toString`, and
 * takes `__proto__` for its prototype; these have no prototype, so a name is there only when it was put there.
 */

/** A table of constants. */
export function lookupTable<Value>(entries: Record<string, Value>): Readonly<Record<string, Value>> {
  return Object.assign(emptyRecord<Value>(), entries);
}

/** A record that is filled under names from outside. */
export function emptyRecord<Value>(): Record<string, Value> {
  return Object.create(null);
}

/** A record's own value under a name from outside. */
export function ownValue<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

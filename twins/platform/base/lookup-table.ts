/**
 * Records with untrusted names as keys. An object literal also finds `constructor` and `toString`, and treats
 * `__proto__` as its prototype; these records have no prototype, so they hold only the names that were added.
 */

/** A table of constants. */
export function lookupTable<Value>(entries: Record<string, Value>): Readonly<Record<string, Value>> {
  return Object.assign(emptyRecord<Value>(), entries);
}

/** An empty record, to be filled under untrusted names. */
export function emptyRecord<Value>(): Record<string, Value> {
  return Object.create(null);
}

/** A record's own value under an untrusted name. */
export function ownValue<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

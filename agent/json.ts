/** Any value as JSON: what tools return and what is reported, dates, bigints, maps, errors and cycles included. */

export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

const MAX_DEPTH = 64;

/**
 * The value as plain JSON. Dates become ISO strings, bigints and non-finite numbers strings, maps objects (lists of
 * pairs when a key is not a string), sets lists, errors `{name, message, …}`, bytes base64; an object that contains
 * itself becomes `"[circular]"` at that place. Functions and symbols have no JSON and are left out, as JSON.stringify does.
 * Never throws.
 */
export function toJson(value: unknown): Json {
  return convert(value, []) ?? null;
}

/** The value as JSON text on a single line: no line break of any kind, escaped ones included where needed. */
export function toJsonLine(value: unknown): string {
  return JSON.stringify(toJson(value)).replace(
    /[\u0085\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** @param ancestors the objects the value is inside of, outermost first */
function convert(value: unknown, ancestors: readonly object[]): Json | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
      return value.toString();
    case "object":
      return value === null ? null : convertObject(value, ancestors);
    default:
      return undefined;
  }
}

function convertObject(value: object, ancestors: readonly object[]): Json | undefined {
  if (ancestors.includes(value)) return "[circular]";
  if (ancestors.length >= MAX_DEPTH) return "[too deep]";
  const inside = [...ancestors, value];
  try {
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
    if (value instanceof Number || value instanceof String || value instanceof Boolean) {
      return convert(value.valueOf(), inside);
    }
    if (value instanceof RegExp) return String(value);
    if (ArrayBuffer.isView(value)) {
      return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
    }
    if (value instanceof ArrayBuffer) return Buffer.from(value).toString("base64");
    if (Array.isArray(value)) return Array.from(value, (item) => convert(item, inside) ?? null);
    if (value instanceof Set) return Array.from(value, (item) => convert(item, inside) ?? null);
    if (value instanceof Map) return convertMap(value, inside);
    if (value instanceof Error) return convertError(value, inside);
    if ("toJSON" in value && typeof value.toJSON === "function") return convert(value.toJSON(), inside);
    return convertMembers(value, inside);
  } catch (error) {
    return `[unreadable: ${error instanceof Error ? error.message : String(error)}]`;
  }
}

function convertMap(map: Map<unknown, unknown>, inside: readonly object[]): Json {
  const entries = [...map];
  if (entries.every(([key]) => typeof key === "string")) {
    return convertMembers(Object.fromEntries(entries), inside);
  }
  return entries.map(([key, item]) => [convert(key, inside) ?? null, convert(item, inside) ?? null]);
}

function convertError(error: Error, inside: readonly object[]): Json {
  const cause = error.cause === undefined ? {} : { cause: error.cause };
  const members = convertMembers({ ...error, ...cause }, inside);
  return { name: error.name, message: error.message, ...members };
}

function convertMembers(value: object, inside: readonly object[]): { [member: string]: Json } {
  const members: [string, Json][] = [];
  for (const name of Object.keys(value)) {
    const member = convertMember(value, name, inside);
    if (member !== undefined) members.push([name, member]);
  }
  // Not by assignment: a member named __proto__ would change the prototype instead.
  return Object.fromEntries(members);
}

function convertMember(value: object, name: string, inside: readonly object[]): Json | undefined {
  try {
    return convert(Reflect.get(value, name), inside);
  } catch (error) {
    return `[unreadable: ${error instanceof Error ? error.message : String(error)}]`;
  }
}

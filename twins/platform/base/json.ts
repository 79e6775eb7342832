/** JSON values: parsing a body, copying, and estimating their size. */

import { emptyRecord } from "./lookup-table.ts";
import { reasonOf } from "./reason.ts";

/** Maximum nesting; deeper JSON is an attack or a mistake, and would overflow the stack of recursive code. */
export const MAX_JSON_DEPTH = 200;

export type JsonReading = { ok: true; value: unknown } | { ok: false; message: string };

/** Parses a body as JSON. An empty body is `undefined`. */
export function readJson(body: Buffer): JsonReading {
  if (body.length === 0) return { ok: true, value: undefined };
  if (nestingOf(body) > MAX_JSON_DEPTH) {
    return { ok: false, message: `the body is nested deeper than ${MAX_JSON_DEPTH} levels` };
  }
  try {
    return { ok: true, value: JSON.parse(body.toString("utf8")) };
  } catch (error) {
    return {
      ok: false,
      message: `the body is not JSON: ${reasonOf(error)}`,
    };
  }
}

/** Nesting depth, counted before parsing so that no recursive code ever sees too deep a value. */
function nestingOf(body: Buffer): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < body.length; index++) {
    const byte = body[index];
    if (inString) {
      if (byte === 0x5c) index++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x5b || byte === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return deepest;
}

/** A deep copy of a JSON value. Members that are `undefined` are left out. */
export function cloneJson<Value>(value: Value): Value;
export function cloneJson(value: unknown): unknown {
  return copy(value, "mutable");
}

/** A deep copy, frozen at every level. */
export function cloneFrozenJson<Value>(value: Value): Value;
export function cloneFrozenJson(value: unknown): unknown {
  return copy(value, "frozen");
}

function copy(value: unknown, as: "mutable" | "frozen"): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const array = value.map((item) => copy(item, as));
    return as === "frozen" ? Object.freeze(array) : array;
  }
  if (!isPlain(value)) throw new TypeError(`a ${value.constructor.name} is not a JSON value`);
  const object = emptyRecord<unknown>();
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(value)) {
    const member = members[name];
    if (member === undefined) continue;
    // Assigning to `__proto__` would set the prototype instead of a member.
    if (name === "__proto__") {
      Object.defineProperty(object, name, {
        value: copy(member, as),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    } else object[name] = copy(member, as);
  }
  return as === "frozen" ? Object.freeze(object) : object;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Estimates the bytes of memory that a JSON value takes. */
export function sizeOfJson(value: unknown): number {
  if (typeof value === "string") return 16 + value.length;
  if (typeof value !== "object" || value === null) return 8;
  let bytes = 32;
  const members = value as Record<string, unknown>;
  for (const name of Object.keys(value)) bytes += name.length + sizeOfJson(members[name]);
  return bytes;
}

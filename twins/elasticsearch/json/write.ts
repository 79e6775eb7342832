/** Writes answers as JSON like the vendor: exact integers, doubles and floats in Java's notation, and raw JSON unchanged. */
import { Double, doubleText, Float, floatText } from "./numbers.ts";
import { NumberText, readExactJson } from "./read.ts";

/** JSON text that is written unchanged, such as a `_source`. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Writes one line. A `Map` is an object that keeps the order of its members; `undefined` members are omitted.
 * @throws TypeError for a value without JSON notation
 */
export function compactJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  const scalar = scalarText(value);
  if (scalar !== undefined) return scalar;
  if (Array.isArray(value)) return `[${value.map((item) => compactJson(item ?? null)).join(",")}]`;
  const members = membersOf(value).map(([name, member]) => `${JSON.stringify(name)}:${compactJson(member)}`);
  return `{${members.join(",")}}`;
}

/** Writes indented, for `?pretty`. */
export function prettyJson(value: unknown, indent = ""): string {
  if (value instanceof RawJson) return prettyJson(readExactJson(value.text), indent);
  const scalar = scalarText(value);
  if (scalar !== undefined) return scalar;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return "[ ]";
    const items = value.map((item) => inner + prettyJson(item ?? null, inner));
    return `[\n${items.join(",\n")}\n${indent}]`;
  }
  const members = membersOf(value);
  if (members.length === 0) return "{ }";
  const lines = members.map(
    ([name, member]) => `${inner}${JSON.stringify(name)} : ${prettyJson(member, inner)}`,
  );
  return `{\n${lines.join(",\n")}\n${indent}}`;
}

/** Members of a JSON object, given as a `Map` or a plain object. */
export function membersOf(value: unknown): [name: string, member: unknown][] {
  if (typeof value !== "object" || value === null)
    throw new TypeError(`a ${typeof value} is not a JSON value`);
  const members: [string, unknown][] = value instanceof Map ? [...value] : Object.entries(value);
  return members.filter(([, member]) => member !== undefined);
}

/** Whether it is written as a scalar. */
export function isScalar(value: unknown): boolean {
  return scalarText(value) !== undefined;
}

function scalarText(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "number":
      return Number.isFinite(value) ? String(value) : doubleText(value);
    case "bigint":
      return value.toString();
    case "object":
      if (value === null) return "null";
      if (value instanceof Double) return doubleText(value.value);
      if (value instanceof Float) return floatText(value.value);
      if (value instanceof NumberText) return value.text;
      return undefined;
    default:
      throw new TypeError(`a ${typeof value} is not a JSON value`);
  }
}

/** Writes an answer as the vendor prints JSON: plain values, exact integers, doubles and floats, and texts of JSON as they are. */
import { Double, doubleText, Float, floatText } from "./numbers.ts";
import { NumberText, readExactJson } from "./read.ts";

/** JSON that goes out exactly as it was written, such as a `_source`. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * On one line. A `Map` is an object whose members keep their order whatever their names; `undefined` members are left out.
 * @throws TypeError for what is no JSON value
 */
export function compactJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  const scalar = scalarText(value);
  if (scalar !== undefined) return scalar;
  if (Array.isArray(value)) return `[${value.map((item) => compactJson(item ?? null)).join(",")}]`;
  const members = membersOf(value).map(([name, member]) => `${JSON.stringify(name)}:${compactJson(member)}`);
  return `{${members.join(",")}}`;
}

/** Indented, as `?pretty` asks for. */
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

/** Members of a JSON object, however it is held. */
export function membersOf(value: unknown): [name: string, member: unknown][] {
  if (typeof value !== "object" || value === null) throw new TypeError(`a ${typeof value} is no JSON value`);
  const members: [string, unknown][] = value instanceof Map ? [...value] : Object.entries(value);
  return members.filter(([, member]) => member !== undefined);
}

/** Whether it is printed as one piece. */
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
      throw new TypeError(`a ${typeof value} is no JSON value`);
  }
}

/** Values of a column as text in a field, and back. */
import type { Column } from "./types.ts";

/** What a field holds: a text, or no value at all. */
export type FieldText = string | null;

/** A value as it is edited. */
export function formatText(column: Column, value: unknown): FieldText {
  if (value === null || value === undefined) return null;
  return column.type === "json" || typeof value === "object" ? JSON.stringify(value, null, 2) : String(value);
}

export type FieldValue = { ok: true; value: unknown } | { ok: false; rule: string };

/** The value that a text stands for. What a column takes beyond that, the twin checks. */
export function parseValue(column: Column, text: FieldText): FieldValue {
  if (text === null) return { ok: true, value: null };
  if (column.allowed) {
    const allowed = column.allowed.find((value) => String(value) === text);
    return allowed === undefined
      ? { ok: false, rule: "is none of the allowed values" }
      : { ok: true, value: allowed };
  }
  switch (column.type) {
    case "integer":
    case "number":
      return numberOf(text);
    case "boolean":
      return text === "true" || text === "false"
        ? { ok: true, value: text === "true" }
        : { ok: false, rule: "must be true or false" };
    case "json":
      return jsonOf(text);
    default:
      return { ok: true, value: text };
  }
}

function numberOf(text: string): FieldValue {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isNaN(number)) return { ok: false, rule: "must be a number" };
  // Longer than a JavaScript number holds exactly: databases take it as text.
  const isExact = !Number.isInteger(number) || Number.isSafeInteger(number);
  return { ok: true, value: isExact ? number : text.trim() };
}

function jsonOf(text: string): FieldValue {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, rule: `is not JSON: ${error instanceof Error ? error.message : ""}` };
  }
}

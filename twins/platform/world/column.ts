/** A column of an in-memory table: declared once with zod, from which checks and the plain-language schema follow. */

import { z } from "zod";
import { lookupTable } from "../base/lookup-table.ts";
import { reasonOf } from "../base/reason.ts";
import type { ColumnDescription } from "./world.ts";

export interface ColumnDeclaration<Type extends z.ZodType = z.ZodType> {
  /** The value's type, which JSON must be able to carry. Optional and defaulted types make the column optional. */
  type: Type;
  /** One sentence, in plain language. */
  description: string;
  /** `table.column`: every value except null must be the key of a row there; of an array, every element. */
  references?: string;
  /** Values that need no row, such as names of built-in objects. */
  builtIn?: readonly string[];
  /**
   * The vendor allows this reference to dangle: it does not check new values, or keeps them when it removes the row. Writes
   * through the control plane are still checked; the twin's own writes and the loading of a whole state are not.
   */
  mayDangle?: true;
  /** Describes a default that is generated at each insert (`a new id`). */
  generated?: string;
}

export type Columns = Record<string, ColumnDeclaration>;

/** A column as the world uses it. */
export interface Column {
  name: string;
  type: z.ZodType;
  description: ColumnDescription;
  target: ReferenceTarget | undefined;
}

export interface ReferenceTarget {
  table: string;
  column: string;
  builtIn: ReadonlySet<unknown>;
  mayDangle: boolean;
  /** The column holds an array of keys. */
  many: boolean;
}

/** Our words for the types and formats of JSON schema. */
const words = lookupTable<string>({ string: "text", array: "json", object: "json" });
const formats = lookupTable<string>({ "date-time": "timestamp", date: "date", time: "time" });

/** @throws Error when the type cannot be carried by JSON, or `references` is not `table.column`. */
export function compileColumn(table: string, name: string, declaration: ColumnDeclaration): Column {
  const description: ColumnDescription = {
    name,
    type: "json",
    required: !declaration.type.safeParse(undefined).success,
    description: declaration.description,
  };
  const schema = valueSchema(table, name, declaration.type);
  if (typeof schema.type === "string") {
    description.type = formats[schema.format ?? ""] ?? words[schema.type] ?? schema.type;
  }
  const allowed = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  if (allowed) description.allowed = allowed;
  if (declaration.generated) description.default = declaration.generated;
  else if (schema.default !== undefined) description.default = schema.default;
  if (declaration.references) description.references = declaration.references;
  return {
    name,
    type: declaration.type,
    description,
    target: declaration.references
      ? {
          ...readReference(table, name, declaration.references),
          builtIn: new Set(declaration.builtIn),
          mayDangle: declaration.mayDangle ?? false,
          many: schema.type === "array",
        }
      : undefined,
  };
}

interface ValueSchema {
  type?: unknown;
  format?: string | undefined;
  enum?: unknown[] | undefined;
  const?: unknown;
  default?: unknown;
}

/** The JSON schema of a column's value without its `null` alternative. */
function valueSchema(table: string, name: string, type: z.ZodType): ValueSchema {
  let schema: z.core.JSONSchema.BaseSchema;
  try {
    schema = z.toJSONSchema(type, { io: "output" });
  } catch (error) {
    const reason = reasonOf(error);
    throw new Error(`column ${table}.${name}: its type cannot be carried by JSON (${reason})`);
  }
  const alternatives = schema.anyOf?.filter((option) => option.type !== "null") ?? [];
  const [only] = alternatives;
  const base = only && alternatives.length === 1 ? only : schema;
  return {
    type: Array.isArray(base.type) ? base.type.find((type) => type !== "null") : base.type,
    format: base.format,
    enum: base.enum?.filter((value) => value !== null),
    const: base.const,
    default: schema.default,
  };
}

function readReference(table: string, name: string, reference: string): { table: string; column: string } {
  const [targetTable, targetColumn, ...rest] = reference.split(".");
  if (!targetTable || !targetColumn || rest.length > 0) {
    throw new Error(`column ${table}.${name}: references must be "table.column", not "${reference}"`);
  }
  return { table: targetTable, column: targetColumn };
}

export type TextReading = { ok: true; value: unknown } | { ok: false; rule: string };

/** `Number` would also accept `0x10` and blanks. */
const integerText = /^-?[0-9]+$/;
/** A JSON number, with an optional exponent. */
const numberText = /^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/** Turns the text of a query string into a value of the column, for an equality filter. */
export function readColumnText(column: Column, text: string): TextReading {
  switch (column.description.type) {
    case "integer":
      if (text === "null") return { ok: true, value: null };
      if (!integerText.test(text)) return { ok: false, rule: "is compared with a number in digits: 42" };
      return { ok: true, value: Number(text) };
    case "number":
      if (text === "null") return { ok: true, value: null };
      if (!numberText.test(text))
        return { ok: false, rule: "is compared with a number as JSON has it: -1.5" };
      return { ok: true, value: Number(text) };
    case "boolean":
      if (text === "null") return { ok: true, value: null };
      if (text !== "true" && text !== "false") return { ok: false, rule: "is compared with true or false" };
      return { ok: true, value: text === "true" };
    case "timestamp":
      return { ok: true, value: text === "null" ? null : text };
    case "json":
      try {
        return { ok: true, value: JSON.parse(text) };
      } catch {
        return { ok: false, rule: "is compared with a JSON value" };
      }
    default:
      return { ok: true, value: text };
  }
}

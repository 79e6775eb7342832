/** The indices with a mapping of their own, as rows of table `indices`. */

import type { Problem, Row } from "@offhook/platform/world/world";
import { z } from "zod";
import type { FieldCatalog, IndexMapping, NewField } from "../fields.ts";
import { fieldTypes } from "./describe.ts";

/** Parses an index's definition, JSON text. @throws Error that says what is wrong with it */
export type ReadMapping = (index: string, definition: string) => IndexMapping;

export function indexRows(fields: FieldCatalog): Row[] {
  return [...fields.indices].map(([name, mapping]) => {
    const own = fields.of(name).all();
    return {
      name,
      definition: JSON.parse(mapping.definition(own)),
      fields: own.map(({ name, type, multi }) => ({ name, type, multi })),
    };
  });
}

const indexRow = z.strictObject({
  name: z.string().min(1),
  definition: z.record(z.string(), z.unknown()),
  fields: z
    .array(z.strictObject({ name: z.string().min(1), type: z.enum(fieldTypes), multi: z.boolean() }))
    .default([]),
});

export interface IndicesReading {
  indices: Map<string, IndexMapping>;
  /** Of all indices. */
  fields: NewField[];
  problems: Problem[];
}

export function readIndexRows(rows: readonly unknown[], readMapping: ReadMapping): IndicesReading {
  const reading: IndicesReading = { indices: new Map(), fields: [], problems: [] };
  rows.forEach((given, row) => {
    const addProblem = (column: string | undefined, rule: string, value?: unknown) =>
      reading.problems.push({ table: "indices", row, ...(column !== undefined && { column }), value, rule });
    const parsed = indexRow.safeParse(given);
    if (!parsed.success) {
      for (const { path, message } of parsed.error.issues) {
        addProblem(path.map(String).join(".") || undefined, message);
      }
      return;
    }
    const { name, definition, fields } = parsed.data;
    if (reading.indices.has(name)) addProblem("name", "there are two indices of this name", name);
    try {
      const mapping = readMapping(name, JSON.stringify(definition));
      const declared = new Map(mapping.fields.map((field) => [field.name, field]));
      reading.indices.set(name, mapping);
      for (const { name: field, type, multi } of fields) {
        const known = declared.get(field);
        if (known && known.type !== type)
          addProblem("fields", `${field} is ${known.type} by the mapping`, type);
        reading.fields.push(known ? { ...known, multi } : { name: field, type, multi, index: name });
      }
    } catch (error) {
      addProblem("definition", error instanceof Error ? error.message : String(error), definition);
    }
  });
  return reading;
}

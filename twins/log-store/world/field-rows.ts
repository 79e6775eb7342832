/** The fields of a store as rows of table `fields`. */

import type { Problem, Row } from "@offhook/platform/world/world";
import { z } from "zod";
import { timeFormatNames } from "../dates/time-formats.ts";
import type { FieldCatalog, NewField } from "../fields.ts";
import { MAX_FIELDS } from "../store/document-fitter.ts";
import { fieldTypes } from "./describe.ts";

export function fieldRows(fields: FieldCatalog): Row[] {
  const { timeField } = fields;
  return fields.all().map(({ name, type, multi, timeFormat, blanks }) => ({
    name,
    type,
    multi,
    time: name === timeField?.name,
    ...(timeFormat !== undefined && { format: timeFormat }),
    ...(blanks === true && { blanks }),
  }));
}

const fieldRow = z.strictObject({
  name: z.string().min(1),
  type: z.enum(fieldTypes),
  multi: z.boolean().default(false),
  time: z.boolean().default(false),
  format: z.enum(timeFormatNames).optional(),
  blanks: z.boolean().default(false),
});

export interface FieldsReading {
  fields: NewField[];
  timeField: string | undefined;
  problems: Problem[];
}

export function readFieldRows(rows: readonly unknown[]): FieldsReading {
  const reading: FieldsReading = { fields: [], timeField: undefined, problems: [] };
  const names = new Set<string>();
  rows.forEach((given, row) => {
    const addProblem = (column: string | undefined, rule: string, value?: unknown) =>
      reading.problems.push({ table: "fields", row, ...(column !== undefined && { column }), value, rule });
    const parsed = fieldRow.safeParse(given);
    if (!parsed.success) {
      for (const { path, message } of parsed.error.issues)
        addProblem(path.map(String).join(".") || undefined, message);
      return;
    }
    const { time, format, blanks, ...plain } = parsed.data;
    const field = {
      ...plain,
      ...(format !== undefined && { timeFormat: format }),
      ...(blanks && { blanks }),
    };
    if (format !== undefined && field.type !== "date") addProblem("format", "only a date has one", format);
    if (blanks && field.type !== "date") addProblem("blanks", "only a date has them", blanks);
    if (names.has(field.name)) addProblem("name", "there are two fields of this name", field.name);
    if (time && field.type !== "date") addProblem("time", "the field that says when is a date", time);
    if (time && reading.timeField !== undefined) addProblem("time", "one field at most says when", time);
    names.add(field.name);
    reading.fields.push(field);
    if (time) reading.timeField = field.name;
  });
  if (names.size > MAX_FIELDS) {
    reading.problems.push({ table: "fields", value: names.size, rule: `at most ${MAX_FIELDS} fields` });
  }
  return reading;
}

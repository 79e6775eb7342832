/** Rows in a body. Keeps every member: zod's own records drop `__proto__` silently, so that it would not be refused. */
import { z } from "zod";
import type { Row, Tables } from "../world/world.ts";

export function isObject(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Columns and their values. */
export const rowSchema = z.custom<Row>(isObject, "must be an object of columns and values");

/** Rows by table. */
export const tablesSchema = z
  .custom<Tables>(isObject, "must be an object of tables")
  .superRefine((tables, context) => {
    for (const [table, rows] of Object.entries<unknown>(tables)) {
      if (!Array.isArray(rows)) {
        context.addIssue({ code: "custom", path: [table], message: "must be an array of rows" });
        continue;
      }
      rows.forEach((row: unknown, position) => {
        if (!isObject(row))
          context.addIssue({ code: "custom", path: [table, position], message: "a row is an object" });
      });
    }
  });

/** `setfields`: sets fields to constants in every row. */
import { sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { extend } from "../relation/relation.ts";
import type { Typed } from "../relation/typed.ts";

export const setfields = defineCommand({
  name: "setfields",
  kind: "streaming",
  parse(reader) {
    const values = new Map<string, string>();
    do {
      const field = reader.field();
      if (!reader.symbol("=")) reader.fail(`Missing '=' after '${field}'.`);
      values.set(cleanName(field), reader.text(`the value of '${field}'`));
    } while (reader.symbol(",") || !reader.atEnd());
    return { values };
  },
  compile({ values }, input) {
    const changes = [...values].map(([field, value]): [string, Typed] => [
      field,
      { type: "text", multi: false, sql: sql`CAST(${value} AS VARCHAR)` },
    ]);
    return extend(input, new Map(changes));
  },
});

/** Replaces characters other than letters and digits by `_`, and strips leading ones. */
function cleanName(field: string): string {
  return field.replace(/[^A-Za-z0-9_]/g, "_").replace(/^_+/, "");
}

/** `nomv`: joins the values of a field into one. */
import { sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { columnOf, extend, fieldValue } from "../relation/relation.ts";
import { textOf } from "../relation/typed.ts";

export const nomv = defineCommand({
  name: "nomv",
  kind: "streaming",
  parse: (reader) => ({ name: reader.field() }),
  compile({ name }, input) {
    const column = columnOf(input, name);
    if (column === undefined || !column.multi) return input;
    const values = textOf(fieldValue(column));
    const joined = sql`list_aggregate(${values}, 'string_agg', ${column.delimiter ?? "\n"})`;
    return extend(input, new Map([[name, { type: "text", multi: false, sql: joined }]]));
  },
});

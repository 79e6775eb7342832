/** `accum`: a running total. */
import { sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { orderByClause } from "../relation/order-keys.ts";
import { columnOf, extend, fieldValue } from "../relation/relation.ts";
import { numberOf, type Typed, textOf } from "../relation/typed.ts";

export const accum = defineCommand({
  name: "accum",
  kind: "stateful",
  parse(reader) {
    const name = reader.field();
    return { name, to: reader.keyword("as") ? reader.field("a new field") : name };
  },
  compile({ name, to }, input) {
    const column = columnOf(input, name);
    if (column === undefined) return input;
    const value = fieldValue(column);
    const number = numberOf(value);
    const sum = sql`sum(CAST(${number} AS DOUBLE)) OVER (${orderByClause(input.order)} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)`;
    const total: Typed = {
      type: "number",
      multi: false,
      sql: sql`CASE WHEN ${number} IS NOT NULL THEN ${sum} END`,
    };
    return extend(input, new Map([[to, to === name ? coalesceTotal(value, total) : total]]));
  },
});

/** The total, or the field's own value where that is no number. */
function coalesceTotal(value: Typed, total: Typed): Typed {
  if (value.type === "number" && !value.multi) return total;
  if (value.multi)
    return { ...value, type: "text", sql: sql`coalesce([${textOf(total)}], ${textOf(value)})` };
  return { type: "text", multi: false, sql: sql`coalesce(${textOf(total)}, ${value.sql})` };
}

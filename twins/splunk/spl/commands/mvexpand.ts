/** `mvexpand`: one row for each value of a field; rows without a value are dropped, unless no row has the field. */
import { identifier, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import type { OrderKey } from "../relation/order-keys.ts";
import { columnOf, fieldValue, filter, outputsOf, project, type Relation } from "../relation/relation.ts";
import { readFieldAndOptions } from "../syntax/fields-and-options.ts";
import { count } from "../syntax/option-types.ts";

export const mvexpand = defineCommand({
  name: "mvexpand",
  kind: "streaming",
  parse(reader) {
    const { name, options } = readFieldAndOptions(reader, { limit: count });
    return { name, limit: options.limit ?? 0 };
  },
  compile({ name, limit }, input, context) {
    const column = columnOf(input, name);
    if (column === undefined) {
      context.warn({ type: "WARN", text: `Field '${name}' does not exist in the data.` });
      return input;
    }
    const value = fieldValue(column);
    if (!column.multi) return filter(input, sql`${value.sql} IS NOT NULL`);
    const values = limit === 0 ? value.sql : sql`${value.sql}[1:CAST(${limit} AS BIGINT)]`;
    // Expansion may exceed the former bound.
    const { maxRows: _, ...rows } = input;
    const position: OrderKey = { column: `#order${input.order.length}`, direction: "ASC" };
    const expanded: Relation = {
      ...rows,
      order: [...input.order.map(({ unique: _, ...key }) => key), position],
      select: sql`SELECT *, unnest(${values}) AS "#value", generate_subscripts(${values}, 1) AS ${identifier(position.column)} FROM (${input.select}) AS r`,
    };
    const one = { type: value.type, multi: false, sql: sql`"#value"` } as const;
    return project(
      expanded,
      outputsOf(input).map((output) =>
        output.name === column.name ? { ...output, name, value: one } : output,
      ),
    );
  },
});

/** `untable`: one row for each cell of a table. */
import { identifier, joined, type Sql, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import type { OrderKey } from "../relation/order-keys.ts";
import { columnOf, fieldValue, type Output, type Relation, select } from "../relation/relation.ts";
import { nullValue, widen } from "../relation/typed.ts";

export const untable = defineCommand({
  name: "untable",
  kind: "report",
  parse(reader) {
    const [x, nameField, dataField, ...more] = reader.fields();
    if (x === undefined || nameField === undefined || dataField === undefined || more.length > 0) {
      return reader.fail("Usage: untable <x-field> <y-name-field> <y-data-field>.");
    }
    return { x, nameField, dataField };
  },
  compile({ x, nameField, dataField }, input) {
    const columns = input.columns.filter(({ name }) => name !== x && !name.startsWith("_"));
    const type = columns.every((column) => column.type === "number") ? "number" : "text";
    const multi = columns.some((column) => column.multi);
    const cells = columns.map((column, index): Sql => {
      const value = widen(fieldValue(column), { type, multi });
      return sql`{'name': CAST(${column.name} AS VARCHAR), 'value': ${value}, 'position': CAST(${index} AS BIGINT)}`;
    });
    const xColumn = columnOf(input, x);
    const outputs: Output[] = [
      { name: x, value: xColumn === undefined ? nullValue : fieldValue(xColumn) },
      { name: nameField, value: { type: "text", multi: false, sql: sql`"#cell".name` } },
      { name: dataField, value: { type, multi, sql: sql`"#cell".value` } },
    ];
    return select(cellRows(input, cells), outputs, cellOrderKeys(input), "report");
  },
});

/** Adds `#cell`: one row for each non-empty cell, in column order. */
function cellRows(input: Relation, cells: readonly Sql[]): Sql {
  if (cells.length === 0) {
    const none = sql`{'name': CAST(NULL AS VARCHAR), 'value': CAST(NULL AS DOUBLE), 'position': CAST(NULL AS BIGINT)}`;
    return sql`SELECT *, ${none} AS "#cell", 0 AS ${cellOrderColumn(input)} FROM (${input.select}) AS r WHERE FALSE`;
  }
  const unrolled = sql`SELECT *, unnest([${joined(cells, ", ")}]) AS "#cell" FROM (${input.select}) AS r`;
  return sql`SELECT *, "#cell".position AS ${cellOrderColumn(input)} FROM (${unrolled}) AS c WHERE "#cell".value IS NOT NULL`;
}

function cellOrderColumn(input: Relation): Sql {
  return identifier(`#order${input.order.length}`);
}

function cellOrderKeys(input: Relation): OrderKey[] {
  return [...input.order, { column: `#order${input.order.length}`, direction: "ASC" }];
}

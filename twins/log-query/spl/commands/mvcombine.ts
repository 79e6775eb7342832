/** `mvcombine`: one row for those that agree in all fields but one, whose values it has. */
import { identifier, joined, type Sql, sql } from "../../../datasets/sql.ts";
import { defineCommand } from "../command.ts";
import { numbered } from "../ordered-rows.ts";
import { columnOf, fieldValue, type Output, outputsOf, selected } from "../relation.ts";
import { readFieldAndOptions } from "../syntax/fields-and-options.ts";
import { text } from "../syntax/option-types.ts";
import { listOf } from "../typed.ts";

export const mvcombine = defineCommand({
  name: "mvcombine",
  kind: "report",
  parse(reader) {
    const { name, options } = readFieldAndOptions(reader, { delim: text });
    return { name, delimiter: options.delim ?? " " };
  },
  compile({ name, delimiter }, input) {
    const column = columnOf(input, name);
    if (column === undefined) return input;
    const rows = numbered(input);
    const values = listOf(fieldValue(column));
    const all = sql`flatten(list(${values} ORDER BY "#order0") FILTER (${values} IS NOT NULL))`;
    const others = input.columns.filter((other) => other !== column).map((other) => identifier(other.column));
    const from = sql`SELECT ${joined([...others, sql`${all} AS "#values"`, sql`min("#order0") AS "#order0"`], ", ")} FROM (${rows.select}) AS r GROUP BY ${grouping(others)}`;
    const combined = { type: column.type, multi: true, sql: sql`"#values"` } as const;
    const outputs = outputsOf(input).map(
      (output): Output =>
        output.name === column.name ? { ...output, name, value: combined, delimiter } : output,
    );
    return selected(from, outputs, rows.order, "report");
  },
});

/** All rows are one group when there is no other field; without rows there is none. */
function grouping(columns: readonly Sql[]): Sql {
  return columns.length === 0 ? sql`CAST(NULL AS INTEGER)` : joined(columns, ", ");
}

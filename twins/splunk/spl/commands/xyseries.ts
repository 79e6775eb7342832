/** `xyseries`: pivots rows of cells into a table. */
import { identifier, joined, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { withRowNumber } from "../relation/order.ts";
import type { OrderKey } from "../relation/order-keys.ts";
import {
  type Column,
  columnOf,
  fieldValue,
  type Output,
  project,
  type Relation,
  select,
} from "../relation/relation.ts";
import { textOf } from "../relation/typed.ts";
import { commandError } from "../spl-error.ts";
import { orderKeysOf } from "../stats/group.ts";
import { readFieldsAndOptions } from "../syntax/fields-and-options.ts";
import { boolean, text } from "../syntax/option-types.ts";

/** Series of the table. */
const MAX_SERIES = 1_000;

export const xyseries = defineCommand({
  name: "xyseries",
  aliases: ["maketable"],
  kind: "report",
  parse(reader) {
    const { names, options } = readFieldsAndOptions(reader, { sep: text, format: text, grouped: boolean });
    const [x, nameField, ...dataFields] = names;
    if (x === undefined || nameField === undefined || dataFields.length === 0) {
      return reader.fail("Usage: xyseries <x-field> <y-name-field> <y-data-field>...");
    }
    const { sep = ": ", format = `$AGG$${sep}$VAL$`, grouped = false } = options;
    return { x, nameField, dataFields, format, grouped };
  },
  async compile({ x, nameField, dataFields, format, grouped }, input, context) {
    const rows = withRowNumber(input);
    const xColumn = columnOf(rows, x);
    const nameColumn = columnOf(rows, nameField);
    if (xColumn === undefined || nameColumn === undefined) {
      throw commandError(
        "xyseries",
        `The field '${xColumn === undefined ? x : nameField}' is in no row.`,
        "run",
      );
    }
    const series = await seriesNames(rows, nameColumn, context);
    const single = dataFields.length === 1;
    const cells = dataFields.flatMap((field): Output[] => {
      const column = columnOf(rows, field);
      if (column === undefined) return [];
      return series.map((name) => ({
        name: columnName(single ? name : formatName(format, field, name)),
        value: { ...fieldValue(column), sql: cellValue(column, nameColumn, name) },
      }));
    });
    return pivotTable(rows, xColumn, cells, grouped ? "as they come" : "by x");
  },
});

/** The names of all series, sorted. */
async function seriesNames(rows: Relation, column: Column, context: SearchContext): Promise<string[]> {
  const named = project(rows, [
    { name: "name", value: { ...fieldValue(column), type: "text", sql: textOf(fieldValue(column)) } },
  ]);
  const values = column.multi ? sql`unnest("name")` : sql`"name"`;
  const select = sql`SELECT DISTINCT ${values} AS "name" FROM (${named.select}) AS r`;
  const result = await context.run({ ...named, select, order: [] }, MAX_SERIES + 1);
  if (result.rows.length > MAX_SERIES) {
    throw commandError("xyseries", `The table would have more than ${MAX_SERIES} columns.`, "run");
  }
  const names = result.rows.flatMap(([name = null]) => (name === null || name === "" ? [] : [String(name)]));
  return names.sort((a, b) => (a < b ? -1 : 1));
}

function formatName(format: string, field: string, name: string): string {
  return format.replaceAll("$AGG$", () => field).replaceAll("$VAL$", () => name);
}

/** Names of internal fields are taken: such a value gets a prefix. */
function columnName(name: string): string {
  return name.startsWith("_") ? `VALUE${name}` : name;
}

/** The last value of a series in a group. */
function cellValue(data: Column, nameColumn: Column, name: string) {
  const { sql: value } = fieldValue(data);
  const text = textOf(fieldValue(nameColumn));
  const isNamed = nameColumn.multi ? sql`list_contains(${text}, ${name})` : sql`${text} = ${name}`;
  return sql`arg_max(${value}, "#order0") FILTER (${isNamed} AND ${value} IS NOT NULL)`;
}

function pivotTable(
  rows: Relation,
  x: Column,
  cells: readonly Output[],
  order: "by x" | "as they come",
): Relation {
  const value = fieldValue(x);
  const keys = order === "by x" && !value.multi ? orderKeysOf({ ...value, sql: sql`"#x"` }) : [sql`"#first"`];
  const items = cells.map((output, index) => sql`${output.value.sql} AS ${identifier(`#c${index}`)}`);
  const groups = sql`SELECT ${joined([sql`${value.sql} AS "#x"`, sql`min("#order0") AS "#first"`, ...items], ", ")} FROM (${rows.select}) AS r WHERE ${value.sql} IS NOT NULL GROUP BY ${value.sql}`;
  const ordered = keys.map((key, index) => sql`${key} AS ${identifier(`#order${index}`)}`);
  const outputs = cells.map((output, index) => ({
    ...output,
    value: { ...output.value, sql: identifier(`#c${index}`) },
  }));
  return select(
    sql`SELECT *, ${joined(ordered, ", ")} FROM (${groups}) AS g`,
    [{ name: x.name, value: { ...value, sql: sql`"#x"` } }, ...lastOfEachName(outputs, x.name)],
    keys.map((_, index): OrderKey => ({ column: `#order${index}`, direction: "ASC" })),
    "report",
  );
}

/** The last column of each name, without any that is called like the x field. */
function lastOfEachName(outputs: readonly Output[], taken: string): Output[] {
  const byName = new Map(outputs.map((output) => [output.name, output]));
  byName.delete(taken);
  return [...byName.values()];
}

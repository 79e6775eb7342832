/** `transpose`: turns rows into columns. */
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { defineCommand } from "../command.ts";
import { limit } from "../relation/order.ts";
import { asField, type RowField, type Rows, relationOf } from "../relation/rows.ts";
import { commandError } from "../spl-error.ts";
import { readFieldsAndOptions } from "../syntax/fields-and-options.ts";
import { boolean, text } from "../syntax/option-types.ts";

/** Columns of the result, hence rows of the input. */
const MAX_COLUMNS = 10_000;

interface Layout {
  columnName: string;
  headerField: string | undefined;
  includeEmpty: boolean;
}

export const transpose = defineCommand({
  name: "transpose",
  kind: "report",
  parse(reader) {
    const optionTypes = { column_name: text, header_field: text, include_empty: boolean };
    const { names, options } = readFieldsAndOptions(reader, optionTypes);
    const [rows = "5", ...more] = names;
    if (!/^\d{1,9}$/.test(rows) || more.length > 0) reader.fail(`Invalid argument: '${names.join(" ")}'`);
    const {
      column_name: columnName = "column",
      header_field: headerField,
      include_empty: includeEmpty = true,
    } = options;
    return { rows: Number(rows), columnName, headerField, includeEmpty };
  },
  async compile({ rows, ...layout }, input, context) {
    const maxRows = rows === 0 ? MAX_COLUMNS : Math.min(rows, MAX_COLUMNS);
    const found = await context.run(limit(input, maxRows + 1), maxRows + 1);
    if (found.rows.length > maxRows && (rows === 0 || rows > MAX_COLUMNS)) {
      throw commandError("transpose", `There are more than ${MAX_COLUMNS} rows.`, "run");
    }
    return relationOf(transposeRows({ ...found, rows: found.rows.slice(0, maxRows) }, layout));
  },
});

function transposeRows({ fields, rows }: Rows, { columnName, headerField, includeEmpty }: Layout): Rows {
  const header = fields.findIndex(({ name }) => name === headerField);
  const titles = rows.map((row, index) => titleOf(row[header] ?? null) ?? `row ${index + 1}`);
  // Rows with the same title: the last one stays.
  const places = new Map(titles.map((title, index) => [title, index]));
  places.delete(columnName);
  const lines = fields.flatMap(({ name }, column) => {
    const values = [...places.values()].map((row) => rows[row]?.[column] ?? null);
    const isShown =
      column !== header && (includeEmpty || values.some((value) => value !== null && value !== ""));
    return isShown ? [{ name, values }] : [];
  });
  const columns = [...places.keys()].map((title, index): RowField => {
    const values = lines.map(({ values: line }) => line[index] ?? null).filter((value) => value !== null);
    const isNumber = values.length > 0 && values.flat().every((value) => typeof value === "number");
    return { name: title, type: isNumber ? "number" : "text", multi: values.some(Array.isArray) };
  });
  return {
    fields: [{ name: columnName, type: "text", multi: false }, ...columns],
    rows: lines.map(({ name, values }) => [
      name,
      ...columns.map((field, index) => asField(field, values[index] ?? null)),
    ]),
  };
}

/** The text of a value, or of the first of several; `undefined` when empty. */
function titleOf(value: ResultValue): string | undefined {
  const one = Array.isArray(value) ? (value[0] ?? null) : value;
  return one === null || one === "" ? undefined : String(one);
}

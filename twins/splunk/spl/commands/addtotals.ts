/** `addtotals`: the total of each row, and of each column. */
import { defineCommand } from "../command.ts";
import { readFieldsAndOptions } from "../syntax/fields-and-options.ts";
import { boolean, text } from "../syntax/option-types.ts";
import { totalColumns, withColumnTotals, withRowTotals } from "./totals.ts";

const optionTypes = { row: boolean, col: boolean, labelfield: text, label: text, fieldname: text };

export const addtotals = defineCommand({
  name: "addtotals",
  kind: "report",
  parse(reader) {
    const { names, options } = readFieldsAndOptions(reader, optionTypes);
    const { row = true, col = false, fieldname = "Total", labelfield, label = "Total" } = options;
    const labelled = labelfield === undefined ? undefined : { field: labelfield, text: label };
    return { names, row, col, field: fieldname, label: labelled };
  },
  kindOf: ({ col }) => (col ? "report" : "streaming"),
  compile({ names, row, col, field, label }, input) {
    const rows = row ? withRowTotals(input, totalColumns(input, names), field) : input;
    if (!col) return rows;
    return withColumnTotals(
      rows,
      totalColumns(rows, names.length === 0 || !row ? names : [...names, field]),
      label,
    );
  },
});

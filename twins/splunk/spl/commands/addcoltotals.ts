/** `addcoltotals`: one more row with the totals of the columns. */
import { defineCommand } from "../command.ts";
import { readFieldsAndOptions } from "../syntax/fields-and-options.ts";
import { text } from "../syntax/option-types.ts";
import { totalColumns, withColumnTotals } from "./totals.ts";

export const addcoltotals = defineCommand({
  name: "addcoltotals",
  kind: "report",
  parse(reader) {
    const { names, options } = readFieldsAndOptions(reader, { labelfield: text, label: text });
    const { labelfield, label = "Total" } = options;
    return { names, label: labelfield === undefined ? undefined : { field: labelfield, text: label } };
  },
  compile: ({ names, label }, input) => withColumnTotals(input, totalColumns(input, names), label),
});

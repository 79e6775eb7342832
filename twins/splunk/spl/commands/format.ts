/** `format`: turns the rows into one search expression. */
import { defineCommand } from "../command.ts";
import { relationOf } from "../relation/rows.ts";
import { defaultFormat, formatRows, type SearchFormat } from "../search/format-rows.ts";
import type { ArgumentReader } from "../syntax/argument-reader.ts";
import { count, text } from "../syntax/option-types.ts";

const optionTypes = { mvsep: text, maxresults: count, emptystr: text };

export const format = defineCommand({
  name: "format",
  kind: "report",
  parse(reader) {
    const before = reader.options(optionTypes);
    const parts = readParts(reader);
    const { mvsep, maxresults = 0, emptystr } = { ...before, ...reader.options(optionTypes) };
    const form: SearchFormat = {
      ...defaultFormat,
      ...parts,
      ...(mvsep === undefined ? {} : { multiSeparator: mvsep }),
      ...(emptystr === undefined ? {} : { empty: emptystr }),
    };
    return { form, maxRows: maxresults };
  },
  async compile({ form, maxRows }, input, context) {
    const rows = await context.run(input, maxRows || context.limits.maxResultRows);
    return searchRow(formatRows(rows, form));
  },
});

/** One row with the field `search`, which replaces the subsearch. */
export function searchRow(search: string) {
  return relationOf({ fields: [{ name: "search", type: "text", multi: false }], rows: [[search]] });
}

/** Reads all six separators, or none. */
function readParts(reader: ArgumentReader): Partial<SearchFormat> {
  const parts: string[] = [];
  while (reader.peek().type === "string") parts.push(reader.text("a separator"));
  if (parts.length === 0) return {};
  const [rowPrefix, columnPrefix, columnSeparator, columnEnd, rowSeparator, rowEnd, ...more] = parts;
  if (rowPrefix === undefined || columnPrefix === undefined || columnSeparator === undefined)
    return sixParts(reader);
  if (columnEnd === undefined || rowSeparator === undefined || rowEnd === undefined) return sixParts(reader);
  if (more.length > 0) return sixParts(reader);
  return { rowPrefix, columnPrefix, columnSeparator, columnEnd, rowSeparator, rowEnd };
}

function sixParts(reader: ArgumentReader): never {
  return reader.fail(
    "Six strings are expected: row prefix, column prefix, column separator, column end, row separator and row end.",
  );
}

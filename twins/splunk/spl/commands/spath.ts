/** `spath`: extracts all fields of JSON or XML, or the field at one path. */
import { sql } from "@offhook/log-store/sql";
import { defineRowFunction } from "@offhook/log-store/store/program-functions";
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { columnOf, extend, fieldValue, filter, type Relation } from "../relation/relation.ts";
import { textOf } from "../relation/typed.ts";
import { isMultiPath, valuesAt, valuesByPath } from "../structured/data-path.ts";
import { addExtractedFields, mergeWithBefore } from "../structured/extracted-fields.ts";
import { text } from "../syntax/option-types.ts";

/** Characters that are read when no path is given (`limits.conf`: `extraction_cutoff`). */
const extractionCutoff = 5_000;

const valuesOfPath = defineRowFunction("splunk.spath", (input, path) => {
  const values = input === null || path === null ? [] : valuesAt(input, path);
  return values.length === 0 ? null : JSON.stringify(values);
});

const allValues = defineRowFunction("splunk.spath-all", (input) => {
  const values = input === null ? new Map() : valuesByPath(input, extractionCutoff);
  return values.size === 0 ? null : JSON.stringify(Object.fromEntries(values));
});

const optionTypes = { input: text, output: text, path: text };

export const spath = defineCommand({
  name: "spath",
  kind: "streaming",
  parse(reader) {
    const options = { ...reader.options(optionTypes) };
    while (!reader.atEnd()) {
      if (options.path !== undefined) reader.end();
      options.path = reader.text("a path");
      Object.assign(options, reader.options(optionTypes));
    }
    const { input = "_raw", path, output = path } = options;
    if (path === undefined && output !== undefined)
      reader.fail('You have not specified a path. Try using "path=mypath" as an argument to spath.');
    return { input, path, output };
  },
  async compile({ input: name, path, output }, input, context) {
    const column = columnOf(input, name);
    if (column === undefined) return input;
    const { multi } = column;
    const field = textOf(fieldValue(column));
    const source = multi ? sql`${field}[1]` : field;
    if (path === undefined || output === undefined)
      return addExtractedFields(input, allValues(source), context);
    const values = sql`CAST(CAST(${valuesOfPath(source, sql`CAST(${path} AS VARCHAR)`)} AS JSON) AS VARCHAR[])`;
    const many =
      isMultiPath(path) || (await hasXml(filter(input, sql`starts_with(ltrim(${source}), '<')`), context));
    const value = { type: "text", multi: many, sql: many ? values : sql`${values}[1]` } as const;
    return extend(input, new Map([[output, mergeWithBefore(input, output, value)]]));
  },
});

async function hasXml(input: Relation, context: SearchContext): Promise<boolean> {
  const { rows } = await context.run({ ...input, columns: [], order: [] }, 1);
  return rows.length > 0;
}

/** `table`: exactly these fields, in this order; no rows when none of them exists. */
import { sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { columnOf, fieldValue, filter, outputsOf, project } from "../relation/relation.ts";
import { nullValue } from "../relation/typed.ts";
import { matchingNames } from "../relation/wildcards.ts";

export const table = defineCommand({
  name: "table",
  kind: "streaming",
  parse(reader) {
    const names = reader.fields();
    if (names.length === 0) reader.fail("Missing a list of fields.");
    return { names };
  },
  compile({ names }, input, context) {
    const outputs = new Map(outputsOf(input).map((output) => [output.name, output]));
    const columns = matchingNames(input, names).map((name) => {
      const column = columnOf(input, name);
      return {
        ...(column && outputs.get(column.name)),
        name,
        value: column ? fieldValue(column) : nullValue,
      };
    });
    if (columns.some(({ name }) => columnOf(input, name) !== undefined)) {
      return project(input, columns, "report");
    }
    context.warn({ type: "INFO", text: "No matching fields exist." });
    return project(filter(input, sql`FALSE`), columns, "report");
  },
});

/** `table`: these fields and no others, in this order. */

import { defineCommand } from "../command.ts";
import { columnOf, fieldValue, outputsOf, project } from "../relation.ts";
import { nullValue } from "../typed.ts";
import { matchingNames } from "../wildcards.ts";

export const table = defineCommand({
  name: "table",
  kind: "streaming",
  parse(reader) {
    const names = reader.fields();
    if (names.length === 0) reader.fail("Missing a list of fields.");
    return { names };
  },
  compile({ names }, input) {
    const outputs = new Map(outputsOf(input).map((output) => [output.name, output]));
    const columns = matchingNames(input, names).map((name) => {
      const column = columnOf(input, name);
      return {
        ...(column && outputs.get(column.name)),
        name,
        value: column ? fieldValue(column) : nullValue,
      };
    });
    return project(input, columns, "report");
  },
});

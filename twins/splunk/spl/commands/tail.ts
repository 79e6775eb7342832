/** `tail`: the last rows, in reverse order. */
import { defineCommand } from "../command.ts";
import { limit as limitRows, reverse } from "../relation/order.ts";

export const tail = defineCommand({
  name: "tail",
  kind: "events",
  parse(reader) {
    const limit = reader.atEnd() ? 10 : reader.integer("a number of rows");
    if (limit < 0) reader.fail(`Invalid number of rows: '${limit}'.`);
    return { limit };
  },
  compile: ({ limit }, input) => limitRows(reverse(input), limit),
});

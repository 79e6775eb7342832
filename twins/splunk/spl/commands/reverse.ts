/** `reverse`: from the last row to the first. */
import { defineCommand } from "../command.ts";
import { reverse as reverseRows } from "../relation/order.ts";

export const reverse = defineCommand({
  name: "reverse",
  kind: "events",
  parse: () => ({}),
  compile: (_, input) => reverseRows(input),
});

/** `search`: finds events, or filters the rows of the preceding command. */
import { defineCommand } from "../command.ts";
import { noRows } from "../relation/relation.ts";
import { searchEvents, searchRows } from "../search/search-rows.ts";

export const search = defineCommand({
  name: "search",
  kind: "streaming",
  parse(reader) {
    return { expression: reader.searchExpression() };
  },
  compile: ({ expression }, input, context) =>
    input === noRows ? searchEvents(expression, context) : searchRows(expression, input, context),
});

/** `search`: the events, or the rows so far, that an expression finds. */
import { defineCommand } from "../command.ts";
import { noRows } from "../relation.ts";
import { timeModifiers } from "../search/resolve-search.ts";
import { searchEvents, searchRows } from "../search/search-rows.ts";
import { timesOf } from "../search/time-modifiers.ts";

export const search = defineCommand({
  name: "search",
  kind: "streaming",
  parse(reader) {
    const expression = reader.searchExpression();
    // A time that cannot be read is refused before there is a job.
    timesOf(timeModifiers(expression), { nowMs: 0, timeZone: "UTC" });
    return { expression };
  },
  compile: ({ expression }, input, context) =>
    input === noRows ? searchEvents(expression, context) : searchRows(expression, input, context),
});

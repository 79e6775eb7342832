/** `search`: the events, or the rows so far, that an expression finds. */
import { defineCommand } from "../command.ts";
import { noRows } from "../compile-pipeline.ts";
import { filter } from "../relation.ts";
import { eventsRelation } from "../search/events.ts";
import { resolveSearch } from "../search/resolve-search.ts";
import { searchPredicate } from "../search/search-predicate.ts";

export const search = defineCommand({
  name: "search",
  kind: "streaming",
  parse: (reader) => ({ expression: reader.searchExpression() }),
  async compile({ expression }, input, context) {
    const { found, within } = await resolveSearch(expression, context);
    const rows = input === noRows ? eventsRelation(within) : input;
    return found.node === "all" ? rows : filter(rows, searchPredicate(found, rows));
  },
});

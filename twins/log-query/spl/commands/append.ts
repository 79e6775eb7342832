/** `append`: the rows of a subsearch after those there are. */
import { defineCommand } from "../command.ts";
import { concatenated } from "../relation.ts";
import { relationOf } from "../rows.ts";
import { readSubsearch, subsearchOptionTypes } from "../syntax/subsearch-options.ts";

export const append = defineCommand({
  name: "append",
  kind: "report",
  parse(reader) {
    const { maxout } = reader.options(subsearchOptionTypes);
    return { maxRows: maxout, subsearch: readSubsearch(reader) };
  },
  async compile({ maxRows, subsearch }, input, context) {
    const { joinMaxRows } = context.limits;
    const rows = await context.subsearch(subsearch.pipeline, Math.min(maxRows || joinMaxRows, joinMaxRows));
    return concatenated(input, relationOf(rows, input.kind));
  },
});

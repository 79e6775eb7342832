/** `append`: adds the rows of a subsearch at the end. */
import { defineCommand } from "../command.ts";
import { boundsOf, readSubsearch, subsearchOptionTypes } from "../context/subsearch-options.ts";
import { relationOf } from "../relation/rows.ts";
import { concat } from "../relation/union.ts";
import { coveringRange } from "../time/time-range.ts";

export const append = defineCommand({
  name: "append",
  kind: "report",
  parse(reader) {
    const options = reader.options(subsearchOptionTypes);
    return { options, subsearch: readSubsearch(reader) };
  },
  async compile({ options, subsearch }, input, context) {
    const found = await context.subsearch(subsearch.pipeline, boundsOf(options, context.limits));
    const rows = concat(input, relationOf(found, input.kind));
    if (!options.extendtimerange) return rows;
    return { ...rows, range: coveringRange(input.range ?? context.range, found.range ?? context.range) };
  },
});

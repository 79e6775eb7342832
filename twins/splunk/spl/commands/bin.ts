/** `bin`: puts numbers into ranges, times into spans. */
import { defineCommand } from "../command.ts";
import { extend } from "../relation/relation.ts";
import { binField, binOptionTypes } from "../stats/bin-options.ts";

export const bin = defineCommand({
  name: "bin",
  aliases: ["bucket", "discretize"],
  kind: "streaming",
  parse(reader) {
    const before = reader.options(binOptionTypes);
    if (reader.atEnd()) reader.fail("You must specify a field to discretize.");
    const field = reader.field("the field to put into bins");
    const between = reader.options(binOptionTypes);
    const as = reader.keyword("as") ? reader.field("a name after AS") : field;
    return { field, as, options: { ...before, ...between, ...reader.options(binOptionTypes) } };
  },
  async compile({ field, as, options }, input, context) {
    const value = await binField(field, options, input, context, "bin");
    return value === undefined ? input : extend(input, new Map([[as, value]]));
  },
});

/** `inputlookup`: the rows of a lookup table. */
import { defineCommand } from "../command.ts";
import { limit } from "../relation/order.ts";
import { filter, noRows } from "../relation/relation.ts";
import { concat } from "../relation/union.ts";
import { searchCondition } from "../search/search-rows.ts";
import { lookupRelation } from "../sources/dataset.ts";
import { boolean, count } from "../syntax/option-types.ts";

/** Default of `max`. */
const UNLIMITED = 1_000_000_000;

export const inputlookup = defineCommand({
  name: "inputlookup",
  kind: "generating",
  kindOf: ({ append }) => (append ? "events" : "generating"),
  parse(reader) {
    const before = reader.options(optionTypes);
    const name = reader.text("the name of a lookup table");
    const options = { ...before, ...reader.options(optionTypes) };
    const condition = reader.keyword("where") ? reader.searchExpression() : undefined;
    const { append = false, start = 0, max = UNLIMITED, strict = false } = options;
    return { name, append, start, max, strict, condition };
  },
  async compile({ name, append, start, max, strict, condition }, input, context) {
    const known = await context.knowledge.lookup(name);
    if (known === undefined && !strict && append) {
      context.warn({
        type: "WARN",
        text: `The lookup table '${name}' does not exist or is not available.`,
      });
      return input;
    }
    const table = await lookupRelation("inputlookup", name, context);
    const found =
      condition === undefined ? table : filter(table, await searchCondition(condition, table, context));
    const taken = start === 0 && max === UNLIMITED ? found : limit(found, max, start);
    return append && input !== noRows ? concat(input, taken) : taken;
  },
});

const optionTypes = { append: boolean, start: count, max: count, strict: boolean };

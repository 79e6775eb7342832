/** `sort`: sorts rows, and keeps 10,000 by default. */
import { defineCommand } from "../command.ts";
import { limit as limitRows, orderBy, reverse } from "../relation/order.ts";
import { count } from "../syntax/option-types.ts";
import { readSortFields, sortKeys } from "./sort-keys.ts";

export const sort = defineCommand({
  name: "sort",
  kind: "events",
  parse(reader) {
    const { limit: named } = reader.options({ limit: count });
    const first = reader.peek();
    const isCount = named === undefined && first.type === "word" && /^\d{1,15}$/.test(first.text);
    const counted = isCount ? reader.integer("a number of rows") : named;
    const { fields, reversed } = readSortFields(reader);
    if (fields.length === 0) reader.fail("You must specify fields to sort.");
    const { limit = counted ?? 10_000 } = reader.options({ limit: count });
    return { limit, fields, reversed };
  },
  compile({ limit, fields, reversed }, input) {
    const ordered = orderBy(input, sortKeys(input, fields));
    const rows = reversed ? reverse(ordered) : ordered;
    return limit === 0 ? rows : limitRows(rows, limit);
  },
});

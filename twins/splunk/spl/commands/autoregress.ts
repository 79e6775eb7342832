/** `autoregress`: a field's values from preceding rows. */
import { sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { orderByClause } from "../relation/order-keys.ts";
import { columnOf, extend, fieldValue } from "../relation/relation.ts";
import type { OptionType } from "../syntax/argument-reader.ts";

interface Range {
  first: number;
  last: number;
}

/** Fields that one command adds. */
const MAX_FIELDS = 1_000;

/** `3` or `1-4`. */
const range: OptionType<Range> = {
  expected: "integer or range of integers",
  read(value) {
    const [, first, last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(value) ?? [];
    if (first === undefined || Number(first) < 1 || Number(last) < Number(first)) return undefined;
    return { first: Number(first), last: Number(last) };
  },
};

export const autoregress = defineCommand({
  name: "autoregress",
  aliases: ["ar"],
  kind: "stateful",
  parse(reader) {
    const { p: before } = reader.options({ p: range });
    const name = reader.field();
    const to = reader.keyword("as") ? reader.field("a new field") : undefined;
    const { p = before ?? { first: 1, last: 1 } } = reader.options({ p: range });
    if (to !== undefined && p.first !== p.last) {
      reader.fail("You cannot specify new field name when you specify a range for 'p'.");
    }
    if (p.last - p.first >= MAX_FIELDS) reader.fail(`The range of 'p' values cannot exceed ${MAX_FIELDS}.`);
    return { name, to, p };
  },
  compile({ name, to, p }, input) {
    const column = columnOf(input, name);
    if (column === undefined) return input;
    const value = fieldValue(column);
    const distances = Array.from({ length: p.last - p.first + 1 }, (_, index) => p.first + index);
    const changes = distances.map((distance) => {
      const earlier = sql`lag(${value.sql}, CAST(${distance} AS BIGINT)) OVER (${orderByClause(input.order)})`;
      return [to ?? `${name}_p${distance}`, { ...value, sql: earlier }] as const;
    });
    return extend(input, new Map(changes));
  },
});

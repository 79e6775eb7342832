/** `appendcols`: adds the fields of a subsearch's rows, row by row. */
import { identifier, joined, sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { boundsOf, readSubsearch, subsearchOptionTypes } from "../context/subsearch-options.ts";
import { unifyTypes } from "../eval/value.ts";
import { withRowNumber } from "../relation/order.ts";
import { columnOf, fieldValue, type Output, outputsOf, type Relation, select } from "../relation/relation.ts";
import { relationOf } from "../relation/rows.ts";
import type { Typed } from "../relation/typed.ts";
import { boolean } from "../syntax/option-types.ts";

export const appendcols = defineCommand({
  name: "appendcols",
  kind: "report",
  parse(reader) {
    const { maxtime, maxout, timeout } = subsearchOptionTypes;
    const { override = false, ...options } = reader.options({ maxtime, maxout, timeout, override: boolean });
    return { options, override, subsearch: readSubsearch(reader) };
  },
  async compile({ options, override, subsearch }, input, context) {
    const rows = await context.subsearch(subsearch.pipeline, boundsOf(options, context.limits));
    return joinByPosition(input, relationOf(rows), override ? "second" : "first");
  },
});

/** Joins rows by position, without internal fields of the second. @param winner whose value counts where both have one */
function joinByPosition(first: Relation, second: Relation, winner: "first" | "second"): Relation {
  const left = withRowNumber(first);
  const right = withRowNumber(second);
  const external = second.columns.filter(({ name }) => !name.startsWith("_"));
  const added = new Map(
    external.map((column, index) => [
      column.name,
      { ...fieldValue(column), sql: identifier(`#added${index}`) },
    ]),
  );
  const items = external.map(
    ({ column }, index) => sql`${identifier(column)} AS ${identifier(`#added${index}`)}`,
  );
  const from = sql`SELECT l.* EXCLUDE ("#order0"), a.* EXCLUDE ("#added"), coalesce(l."#order0", a."#added") AS "#order0" FROM (${left.select}) AS l FULL JOIN (SELECT ${joined([...items, sql`"#order0" AS "#added"`], ", ")} FROM (${right.select}) AS r) AS a ON l."#order0" = a."#added"`;
  const outputs = outputsOf(first).map((output): Output => {
    const other = added.get(output.name);
    if (other === undefined) return output;
    return {
      ...output,
      value: coalesce(winner === "first" ? [output.value, other] : [other, output.value]),
    };
  });
  const newOutputs = external.flatMap(({ name }): Output[] => {
    const value = columnOf(first, name) === undefined ? added.get(name) : undefined;
    return value === undefined ? [] : [{ name, value }];
  });
  return select(from, [...outputs, ...newOutputs], left.order, "report");
}

function coalesce(values: readonly Typed[]): Typed {
  const { type, multi, sql: alternatives } = unifyTypes(values);
  return { type, multi, sql: sql`coalesce(${joined(alternatives, ", ")})` };
}

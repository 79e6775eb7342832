/** `delta`: the difference between a field's value and that of a preceding row. */
import { sql } from "@offhook/log-store/sql";
import { defineCommand } from "../command.ts";
import { orderByClause } from "../relation/order-keys.ts";
import { columnOf, extend, fieldValue } from "../relation/relation.ts";
import { numberOf } from "../relation/typed.ts";
import { count } from "../syntax/option-types.ts";

export const delta = defineCommand({
  name: "delta",
  kind: "stateful",
  parse(reader) {
    const { p: before } = reader.options({ p: count });
    const name = reader.field();
    const to = reader.keyword("as") ? reader.field("a new field") : `delta(${name})`;
    const { p = before ?? 1 } = reader.options({ p: count });
    if (p < 1) reader.fail("The option 'p' has to be greater than 0.");
    return { name, to, rowsBefore: p };
  },
  compile({ name, to, rowsBefore }, input) {
    const column = columnOf(input, name);
    if (column === undefined) return input;
    const number = sql`CAST(${numberOf(fieldValue(column))} AS DOUBLE)`;
    const earlier = sql`lag(${number}, CAST(${rowsBefore} AS BIGINT)) OVER (${orderByClause(input.order)})`;
    return extend(
      input,
      new Map([[to, { type: "number", multi: false, sql: sql`(${number} - ${earlier})` }]]),
    );
  },
});

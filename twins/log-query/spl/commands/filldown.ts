/** `filldown`: the last value before, where one is missing. */
import { sql } from "../../../datasets/sql.ts";
import { defineCommand } from "../command.ts";
import { orderClause } from "../order-keys.ts";
import { extend, fieldValue } from "../relation.ts";
import { matchingColumns } from "../wildcards.ts";

export const filldown = defineCommand({
  name: "filldown",
  kind: "stateful",
  parse: (reader) => ({ names: reader.fields() }),
  compile({ names }, input) {
    const columns = names.length === 0 ? input.columns : matchingColumns(input, names);
    const before = sql`${orderClause(input.order)} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW`;
    const changes = columns.map((column) => {
      const value = fieldValue(column);
      return [
        column.name,
        { ...value, sql: sql`last_value(${value.sql} IGNORE NULLS) OVER (${before})` },
      ] as const;
    });
    return extend(input, new Map(changes));
  },
});

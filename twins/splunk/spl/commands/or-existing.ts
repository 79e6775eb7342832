/** Values that replace a field only where they are present. */
import { raw, sql } from "@offhook/log-store/sql";
import { unifyTypes, type Value } from "../eval/value.ts";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";

/** The value, or the value of the existing field `name` when NULL. */
export function orExisting(value: Value, input: Relation, name: string): Value {
  const column = columnOf(input, name);
  if (column === undefined) return value;
  const { sql: [own = raw("NULL"), existing = raw("NULL")] = [], ...shape } = unifyTypes([
    value,
    fieldValue(column),
  ]);
  return { ...shape, sql: sql`coalesce(${own}, ${existing})` };
}

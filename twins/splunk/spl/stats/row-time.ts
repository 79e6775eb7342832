/** The time of rows: their `_time`. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { columnOf, fieldValue, type Relation } from "../relation/relation.ts";
import { numberOf } from "../relation/typed.ts";

/** Seconds since the epoch, DOUBLE; NULL for rows without. */
export function rowTime(input: Relation): Sql {
  const column = columnOf(input, "_time");
  if (column === undefined) return raw("CAST(NULL AS DOUBLE)");
  return column.type === "number" && !column.multi
    ? fieldValue(column).sql
    : sql`CAST(${numberOf(fieldValue(column))} AS DOUBLE)`;
}

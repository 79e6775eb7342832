/** Predicates over a field's column, whether it holds one value or a list. */
import { type Field, fieldValue } from "@offhook/log-store/fields";
import { identifier, joined, raw, type Sql, sql } from "@offhook/log-store/sql";

export function exists(field: Field): Sql {
  return sql`${fieldValue(field)} IS NOT NULL`;
}

/** A field's value as `ignore_above` indexes it: longer texts become NULL, or leave the list. @param ignoreAbove absent: no limit */
export function indexedValue(field: Field, ignoreAbove: number | undefined): Sql {
  const column = fieldValue(field);
  if (ignoreAbove === undefined) return column;
  const limit = raw(String(ignoreAbove));
  if (!field.multi) return sql`CASE WHEN length(${column}) <= ${limit} THEN ${column} END`;
  return sql`nullif(list_filter(${column}, lambda x: length(x) <= ${limit}), [])`;
}

/** Whether any of the field's values equals this one. */
export function equals(field: Field, value: Sql): Sql {
  const column = fieldValue(field);
  const found = field.multi ? sql`list_contains(${column}, ${value})` : sql`${column} = ${value}`;
  return sql`(${column} IS NOT NULL AND ${found})`;
}

/** Whether any of the field's values meets a condition. */
export function some(field: Field, condition: (value: Sql) => Sql): Sql {
  const column = fieldValue(field);
  const found = field.multi
    ? sql`len(list_filter(${column}, lambda ${identifier("v")}: ${condition(identifier("v"))})) > 0`
    : condition(column);
  return sql`(${column} IS NOT NULL AND ${found})`;
}

/** Whether one value is within up to two bounds. */
export function between(value: Sql, bounds: readonly { operator: string; bound: Sql }[]): Sql {
  return joined(
    bounds.map(({ operator, bound }) => sql`${value} ${raw(operator)} ${bound}`),
    " AND ",
  );
}

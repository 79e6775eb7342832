/** Values of SPL as SQL. A field's value is a text or a number; an expression's can be a truth value too. */
import { raw, type Sql, sql } from "../../datasets/sql.ts";

/**
 * An SQL expression and what it gives.
 * - `text`: VARCHAR. What looks like a number behaves as one where a number is needed.
 * - `number`: any of DuckDB's numeric types. A DOUBLE is never infinite or NaN unless SPL's rules make it so.
 * - `boolean`: BOOLEAN, NULL when unknown. No field holds one.
 * A multi-value (`multi`) is a LIST of that; a missing one is NULL, never an empty list.
 */
export interface Typed {
  readonly type: "text" | "number" | "boolean";
  readonly multi: boolean;
  readonly sql: Sql;
}

export const nullValue: Typed = { type: "text", multi: false, sql: raw("CAST(NULL AS VARCHAR)") };

/** As text: an integer without a fraction, other numbers in the fewest digits that give them back, `True` and `False`; NULL stays. */
export function textOf({ type, multi, sql: value }: Typed): Sql {
  if (type === "text") return value;
  if (multi) return sql`list_transform(${value}, lambda v: ${oneText(type, raw("v"))})`;
  return oneText(type, value);
}

function oneText(type: "number" | "boolean", value: Sql): Sql {
  if (type === "boolean") return sql`CASE WHEN ${value} THEN 'True' WHEN NOT ${value} THEN 'False' END`;
  return sql`regexp_replace(CAST(${value} AS VARCHAR), '\\.0$', '')`;
}

/** As a number: NULL for what is none, and for a multi-value that has more than one value. */
export function numberOf({ type, multi, sql: value }: Typed): Sql {
  const one = multi ? sql`CASE WHEN len(${value}) = 1 THEN ${value}[1] END` : value;
  if (type === "number") return one;
  if (type === "boolean") return sql`CAST(NULL AS DOUBLE)`;
  return sql`TRY_CAST(${one} AS DOUBLE)`;
}

/** As a LIST of texts or numbers; a single value is a list of one, a missing one NULL. */
export function listOf({ multi, sql: value }: Typed): Sql {
  return multi ? value : sql`CASE WHEN ${value} IS NOT NULL THEN [${value}] END`;
}

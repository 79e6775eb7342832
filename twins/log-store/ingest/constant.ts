/** Texts in SQL itself: this program's own, and names of fields where a statement takes no parameters. Never a value. */
import { raw, type Sql } from "../sql.ts";

/** A text that DuckDB knows while it plans: patterns are then compiled once, not for each row. */
export function constant(text: string): Sql {
  return raw(`'${text.replaceAll("'", "''")}'`);
}

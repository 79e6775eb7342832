/** Texts of this program's own in SQL, never a file's. */
import { raw, type Sql } from "../sql.ts";

/** A text that DuckDB knows while it plans: patterns are then compiled once, not for each row. */
export function constant(text: string): Sql {
  return raw(`'${text.replaceAll("'", "''")}'`);
}

/** SQL as text for people. */
import type { Sql, SqlValue } from "@offhook/log-store/sql";

/** A statement with its values written in, for the journal. It is never run. */
export function showSql({ texts, values }: Sql): string {
  const text = texts.reduce((before, next, index) => `${before}${showValue(values[index - 1])}${next}`);
  return text.replaceAll(/\s+/g, " ").trim();
}

function showValue(value: SqlValue | undefined): string {
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  return String(value ?? "NULL");
}

/** Results as CSV. */
import type { ResultField, ResultSet, Shown } from "./result-set.ts";

export function writeCsv({ fields, rows }: Pick<ResultSet, "fields" | "rows">): string {
  if (fields.length === 0) return "";
  return `${csvHeader(fields)}${csvRows(rows)}`;
}

export function csvHeader(fields: readonly ResultField[]): string {
  return `${fields.map(({ name }) => cell(name)).join(",")}\n`;
}

export function csvRows(rows: readonly (readonly Shown[])[]): string {
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}

/** Bare when it is letters and digits alone. A missing value is nothing, an empty text is quotes. */
function cell(value: Shown): string {
  if (value === null) return "";
  const text = typeof value === "string" ? value : value.join("\n");
  return /^[A-Za-z0-9]+$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`;
}

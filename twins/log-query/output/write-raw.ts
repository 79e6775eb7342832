/** Results as the events' own text, one a line; a row that is no event has its values with commas between them. */
import type { ResultSet } from "./result-set.ts";

export function writeRaw({ fields, rows }: Pick<ResultSet, "fields" | "rows">): string {
  const raw = fields.findIndex(({ name }) => name === "_raw");
  const lines = rows.map((row) => {
    if (raw >= 0) return textOf(row[raw] ?? null);
    return row.map(textOf).join(",");
  });
  return lines.map((line) => `${line}\n`).join("");
}

function textOf(value: ResultSet["rows"][number][number]): string {
  if (value === null) return "";
  return typeof value === "string" ? value : value.join("\n");
}

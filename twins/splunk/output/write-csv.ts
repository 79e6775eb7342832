/** Results as CSV. */
import { rowRanges } from "./pieces.ts";
import type { ResultSet, Shown } from "./result-set.ts";

/** Nothing when there are no rows. */
export function* writeCsv({ columns, rows, offset, continues }: ResultSet): Generator<string> {
  if (rows.length === 0) return;
  if (!continues) yield `${columns.map(({ name }) => cell(name)).join(",")}\n`;
  for (const [from, to] of rowRanges(rows.length, columns.length)) {
    const texts = rows
      .slice(from, to)
      .map((row, index) => columns.map((column) => cell(column.shown(row, offset + from + index))).join(","));
    yield `${texts.join("\n")}\n`;
  }
}

/** Bare when it is letters and digits alone. A missing value is nothing, an empty text is quotes. */
function cell(value: Shown): string {
  if (value === null) return "";
  const text = typeof value === "string" ? value : value.join("\n");
  if (/^[A-Za-z0-9]+$/.test(text)) return text;
  return `"${text.includes('"') ? text.replaceAll('"', '""') : text}"`;
}

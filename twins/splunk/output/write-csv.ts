/** Results as CSV. */
import { rowRanges } from "./chunks.ts";
import type { DisplayValue, ResultSet } from "./result-set.ts";

/** Writes nothing when there are no rows. */
export function* writeCsv({ columns, rows, offset, isContinuation }: ResultSet): Generator<string> {
  if (rows.length === 0) return;
  if (!isContinuation) yield `${columns.map(({ name }) => cell(name)).join(",")}\n`;
  for (const [from, to] of rowRanges(rows.length, columns.length)) {
    const texts = rows
      .slice(from, to)
      .map((row, index) =>
        columns.map((column) => cell(column.display(row, offset + from + index))).join(","),
      );
    yield `${texts.join("\n")}\n`;
  }
}

/** Quotes a value unless it is all letters and digits. A missing value is empty, an empty string is a pair of quotes. */
function cell(value: DisplayValue): string {
  if (value === null) return "";
  const text = typeof value === "string" ? value : value.join("\n");
  if (/^[A-Za-z0-9]+$/.test(text)) return text;
  return `"${text.includes('"') ? text.replaceAll('"', '""') : text}"`;
}

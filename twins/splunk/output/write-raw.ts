/** Writes events as their own text, one a line, and other rows as comma-separated values. */
import { rowRanges } from "./chunks.ts";
import type { DisplayValue, ResultSet } from "./result-set.ts";

export function* writeRaw({ columns, rows, offset }: ResultSet): Generator<string> {
  const raw = columns.find(({ name }) => name === "_raw");
  const shown = raw === undefined ? columns : [raw];
  for (const [from, to] of rowRanges(rows.length, shown.length)) {
    const lines = rows
      .slice(from, to)
      .map((row, index) =>
        shown.map((column) => textOf(column.display(row, offset + from + index))).join(","),
      );
    yield `${lines.join("\n")}\n`;
  }
}

function textOf(value: DisplayValue): string {
  if (value === null) return "";
  return typeof value === "string" ? value : value.join("\n");
}

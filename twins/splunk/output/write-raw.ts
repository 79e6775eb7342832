/** Results as the events' own text, one a line; a row that is no event has its values with commas between them. */
import { rowRanges } from "./pieces.ts";
import type { ResultSet, Shown } from "./result-set.ts";

export function* writeRaw({ columns, rows, offset }: ResultSet): Generator<string> {
  const raw = columns.find(({ name }) => name === "_raw");
  const written = raw === undefined ? columns : [raw];
  for (const [from, to] of rowRanges(rows.length, written.length)) {
    const lines = rows
      .slice(from, to)
      .map((row, index) =>
        written.map((column) => textOf(column.shown(row, offset + from + index))).join(","),
      );
    yield `${lines.join("\n")}\n`;
  }
}

function textOf(value: Shown): string {
  if (value === null) return "";
  return typeof value === "string" ? value : value.join("\n");
}

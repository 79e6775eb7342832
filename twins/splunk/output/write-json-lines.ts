/** Writes exported results as JSON lines. */

import { rowRanges } from "./chunks.ts";
import { objectWriter } from "./json-text.ts";
import type { ResultSet } from "./result-set.ts";

/** Writes one object and one line a row. */
export function* writeJsonLines(set: ResultSet): Generator<string> {
  const write = objectWriter(set.columns);
  const messages = set.messages.length === 0 ? {} : { messages: set.messages };
  const { preview, offset, columns, rows, hasMore } = set;
  if (rows.length === 0 && !hasMore) yield `${JSON.stringify({ preview, ...messages, lastrow: true })}\n`;
  for (const [from, to] of rowRanges(rows.length, columns.length)) {
    let text = "";
    for (let index = from; index < to; index++) {
      const last = !hasMore && index === rows.length - 1 ? '"lastrow":true,' : "";
      const number = offset + index;
      const row = write(rows[index] ?? [], number);
      text += `{"preview":${preview},"offset":${number},${last}"result":${row}}\n`;
    }
    yield text;
  }
}

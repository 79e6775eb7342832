/** Results as lines of JSON, one a row: as they are exported. */
import { objectWriter } from "./json-text.ts";
import { rowRanges } from "./pieces.ts";
import type { ResultSet } from "./result-set.ts";

/** One object a line, one line a row. */
export function* writeJsonLines(set: ResultSet): Generator<string> {
  const write = objectWriter(set.columns);
  const said = set.messages.length === 0 ? {} : { messages: set.messages };
  const { preview, offset, columns, rows, goesOn } = set;
  if (rows.length === 0 && !goesOn) yield `${JSON.stringify({ preview, ...said, lastrow: true })}\n`;
  for (const [from, to] of rowRanges(rows.length, columns.length)) {
    let text = "";
    for (let index = from; index < to; index++) {
      const last = !goesOn && index === rows.length - 1 ? '"lastrow":true,' : "";
      const number = offset + index;
      const row = write(rows[index] ?? [], number);
      text += `{"preview":${preview},"offset":${number},${last}"result":${row}}\n`;
    }
    yield text;
  }
}

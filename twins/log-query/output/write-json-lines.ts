/** Results as lines of JSON, one a row: as they are exported. */
import { arrayWriter, objectWriter } from "./json-text.ts";
import { rowRanges } from "./pieces.ts";
import type { ResultSet, Row } from "./result-set.ts";

/** One object a line, one line a row. */
export function writeJsonLines(set: ResultSet): Generator<string> {
  const write = objectWriter(set.columns);
  const said = set.messages.length === 0 ? {} : { messages: set.messages };
  return lines(set, said, (row, number) => `"result":${write(row, number)}`);
}

/** The same, where the values stand in the order of `fields`. */
export function writeJsonRowLines(set: ResultSet): Generator<string> {
  const fields = `"fields":${JSON.stringify(set.columns.map(({ name }) => name))}`;
  const write = arrayWriter(set.columns);
  return lines(set, {}, (row, number) => `${fields},"row":${write(row, number)}`);
}

function* lines(
  { preview, offset, columns, rows, goesOn }: ResultSet,
  said: object,
  write: (row: Row, number: number) => string,
): Generator<string> {
  if (rows.length === 0 && !goesOn) yield `${JSON.stringify({ preview, ...said, lastrow: true })}\n`;
  for (const [from, to] of rowRanges(rows.length, columns.length)) {
    let text = "";
    for (let index = from; index < to; index++) {
      const last = !goesOn && index === rows.length - 1 ? '"lastrow":true,' : "";
      const number = offset + index;
      text += `{"preview":${preview},"offset":${number},${last}${write(rows[index] ?? [], number)}}\n`;
    }
    yield text;
  }
}

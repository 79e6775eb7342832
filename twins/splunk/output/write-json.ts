/** Writes results as JSON: objects, rows or columns. The document is one line, for readers that read line by line. */

import { rowRanges } from "./chunks.ts";
import { arrayWriter, jsonText, objectWriter } from "./json-text.ts";
import type { ResultField, ResultSet, Row } from "./result-set.ts";

export function* writeJson(set: ResultSet): Generator<string> {
  const { columns, rows } = set;
  const head = headOf({
    ...set,
    postProcessCount: set.postProcessCount ?? (rows.length > 0 ? undefined : 0),
  });
  if (rows.length === 0) {
    yield JSON.stringify({ ...head, results: [] });
    return;
  }
  yield `${openObject({ ...head, fields: columns.map(fieldOf) })},"results":[`;
  yield* writeRows(set, objectWriter(columns));
  yield `],"highlighted":{}}`;
}

export function* writeJsonRows(set: ResultSet): Generator<string> {
  yield openRows(set);
  yield* writeRows(set, arrayWriter(set.columns));
  yield "]}";
}

export function* writeJsonCols(set: ResultSet): Generator<string> {
  const { offset, columns, rows } = set;
  yield `${openObject({ ...headOf(set), fields: columns.map(({ name }) => name) })},"columns":[`;
  for (const [index, column] of columns.entries()) {
    yield index === 0 ? "[" : ",[";
    yield* writeRows({ offset, columns: [column], rows }, (row, number) =>
      jsonText(column.display(row, number)),
    );
    yield "]";
  }
  yield "]}";
}

/** Makes a writer for the documents of an export, a line each: one of each preview, and one of all result sets together. */
export function jsonRowsLines(): (set: ResultSet) => Generator<string> {
  let hasRows = false;
  return function* writeSet(set) {
    if (!set.isContinuation) {
      hasRows = false;
      yield openRows(set);
    }
    if (hasRows && set.rows.length > 0) yield ",";
    hasRows ||= set.rows.length > 0;
    yield* writeRows(set, arrayWriter(set.columns));
    if (!set.hasMore) yield "]}\n";
  };
}

/** Writes the columns of an export, a line for each set; `init_offset` tells where a continuation starts. */
export function* writeJsonColsLine(set: ResultSet): Generator<string> {
  yield* writeJsonCols(set);
  yield "\n";
}

/** Writes rows with commas between them. */
function* writeRows(
  { offset, columns, rows }: Pick<ResultSet, "offset" | "columns" | "rows">,
  write: (row: Row, number: number) => string,
): Generator<string> {
  for (const [from, to] of rowRanges(rows.length, columns.length)) {
    const texts = rows.slice(from, to).map((row, index) => write(row, offset + from + index));
    yield (from === 0 ? "" : ",") + texts.join(",");
  }
}

function openRows(set: ResultSet): string {
  return `${openObject({ ...headOf(set), fields: set.columns.map(({ name }) => name) })},"rows":[`;
}

/** Writes an object without its closing brace. */
function openObject(object: object): string {
  return JSON.stringify(object).slice(0, -1);
}

function headOf({
  preview,
  offset,
  messages,
  postProcessCount,
}: Pick<ResultSet, "preview" | "offset" | "messages"> & { postProcessCount?: number | undefined }) {
  const count = postProcessCount === undefined ? {} : { post_process_count: postProcessCount };
  return { preview, init_offset: offset, ...count, messages: messages.map(plainMessage) };
}

const plainMessage = ({ type, text }: ResultSet["messages"][number]) => ({ type, text });

function fieldOf({ name, groupRank, special, summary = {} }: ResultField) {
  const made = special === undefined ? {} : { type_special: special };
  const rank = groupRank === undefined ? {} : { groupby_rank: String(groupRank) };
  const figures = Object.entries(summary).map(([key, value]) => [`summary.${key}`, value]);
  return { name, ...rank, ...made, ...Object.fromEntries(figures) };
}

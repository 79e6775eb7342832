/** Results as JSON: objects, rows or columns. One line, as readers expect that take it line by line. */
import { arrayWriter, jsonText, objectWriter } from "./json-text.ts";
import { rowRanges } from "./pieces.ts";
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
  yield `${opened({ ...head, fields: columns.map(fieldOf) })},"results":[`;
  yield* listed(set, objectWriter(columns));
  yield `],"highlighted":{}}`;
}

export function* writeJsonRows(set: ResultSet): Generator<string> {
  yield beforeRows(set);
  yield* listed(set, arrayWriter(set.columns));
  yield "]}";
}

export function* writeJsonCols(set: ResultSet): Generator<string> {
  const { offset, columns, rows } = set;
  yield `${opened({ ...headOf(set), fields: columns.map(({ name }) => name) })},"columns":[`;
  for (const [index, column] of columns.entries()) {
    yield index === 0 ? "[" : ",[";
    yield* listed({ offset, columns: [column], rows }, (row, number) => jsonText(column.shown(row, number)));
    yield "]";
  }
  yield "]}";
}

/** The documents of an export, a line each: one of all rows, whose later sets go on with it, and one of each preview. */
export function jsonRowsLines(): (set: ResultSet) => Generator<string> {
  let hasRows = false;
  return function* written(set) {
    if (!set.continues) {
      hasRows = false;
      yield beforeRows(set);
    }
    if (hasRows && set.rows.length > 0) yield ",";
    hasRows ||= set.rows.length > 0;
    yield* listed(set, arrayWriter(set.columns));
    if (!set.goesOn) yield "]}\n";
  };
}

/** The same in columns, of which each set has its own: one that goes on says by its offset where. */
export function* writeJsonColsLine(set: ResultSet): Generator<string> {
  yield* writeJsonCols(set);
  yield "\n";
}

/** The rows, with commas between them. */
function* listed(
  { offset, columns, rows }: Pick<ResultSet, "offset" | "columns" | "rows">,
  write: (row: Row, number: number) => string,
): Generator<string> {
  for (const [from, to] of rowRanges(rows.length, columns.length)) {
    const texts = rows.slice(from, to).map((row, index) => write(row, offset + from + index));
    yield (from === 0 ? "" : ",") + texts.join(",");
  }
}

function beforeRows(set: ResultSet): string {
  return `${opened({ ...headOf(set), fields: set.columns.map(({ name }) => name) })},"rows":[`;
}

/** An object whose end is missing. */
function opened(object: object): string {
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

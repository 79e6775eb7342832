/** Results as JSON: objects, rows or columns. One line, as readers expect that take it line by line. */
import type { ResultField, ResultSet, Shown } from "./result-set.ts";

export function writeJson(set: ResultSet): string {
  const { preview, offset, rows, messages, postProcessCount } = set;
  const count =
    postProcessCount === undefined && rows.length > 0 ? {} : { post_process_count: postProcessCount ?? 0 };
  const head = { preview, init_offset: offset, ...count, messages: messages.map(plainMessage) };
  if (rows.length === 0) return JSON.stringify({ ...head, results: [] });
  const results = rows.map((row) => objectOf(set.fields, row));
  return JSON.stringify({ ...head, fields: set.fields.map(fieldOf), results, highlighted: {} });
}

export function writeJsonRows(set: ResultSet): string {
  return JSON.stringify({
    ...headOf(set),
    fields: set.fields.map(({ name }) => name),
    rows: set.rows,
  });
}

export function writeJsonCols(set: ResultSet): string {
  return JSON.stringify({
    ...headOf(set),
    fields: set.fields.map(({ name }) => name),
    columns: set.fields.map((_, column) => set.rows.map((row) => row[column] ?? null)),
  });
}

/** A row as an object; absent values are left out. */
export function objectOf(fields: readonly ResultField[], row: readonly Shown[]): Record<string, Shown> {
  const object: Record<string, Shown> = Object.create(null);
  fields.forEach(({ name }, index) => {
    const value = row[index] ?? null;
    if (value !== null) object[name] = value;
  });
  return object;
}

function headOf({ preview, offset, messages }: ResultSet) {
  return { preview, init_offset: offset, messages: messages.map(plainMessage) };
}

const plainMessage = ({ type, text }: ResultSet["messages"][number]) => ({ type, text });

function fieldOf({ name, groupRank, special, summary = {} }: ResultField) {
  const made = special === undefined ? {} : { type_special: special };
  const rank = groupRank === undefined ? {} : { groupby_rank: String(groupRank) };
  const figures = Object.entries(summary).map(([key, value]) => [`summary.${key}`, value]);
  return { name, ...rank, ...made, ...Object.fromEntries(figures) };
}

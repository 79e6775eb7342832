/** Writes results as XML. */
import { rowRanges } from "./chunks.ts";
import type { ResultColumn, ResultField, ResultSet, Row } from "./result-set.ts";
import { xmlAttribute, xmlText } from "./xml.ts";

export const RESULTS_DECLARATION = "<?xml version='1.0' encoding='UTF-8'?>";

/** Turns the stored text of `_raw` into XML, with its segments marked on request. */
export type RawMarkup = (raw: string) => string;

/** Writes a whole document. */
export function* writeXml(set: ResultSet, markup: RawMarkup = xmlText): Generator<string> {
  const { preview, columns, rows, messages } = set;
  yield `${RESULTS_DECLARATION}\n\n`;
  if (rows.length === 0 && columns.length === 0 && messages.length === 0) {
    yield `<results preview='${preview ? "1" : "0"}'/>`;
  } else yield* resultsElement(set, markup);
}

/** Writes the `results` element alone: an export has several. */
export function* resultsElement(set: ResultSet, markup: RawMarkup): Generator<string> {
  const { offset, columns, rows } = set;
  if (!set.isContinuation) yield openResults(set) + messagesElement(set);
  const write = resultWriter(columns, markup);
  for (const [from, to] of rowRanges(rows.length, columns.length)) {
    yield rows
      .slice(from, to)
      .map((row, index) => write(row, offset + from + index))
      .join("");
  }
  if (set.hasMore) return;
  // Messages that came after the head was written.
  yield `${set.isContinuation ? messagesElement(set) : ""}</results>\n`;
}

function openResults({ preview, columns }: ResultSet): string {
  const fields = columns.map(fieldElement).join("");
  return `<results preview='${preview ? "1" : "0"}'>\n<meta>\n<fieldOrder>\n${fields}</fieldOrder>\n</meta>\n`;
}

function fieldElement({ name, groupRank, summary = {} }: ResultField): string {
  const rank = groupRank === undefined ? "" : ` groupby_rank="${groupRank}"`;
  const figures = Object.entries(summary).map(([key, value]) => ` summary.${key}="${xmlAttribute(value)}"`);
  return `<field${rank}${figures.join("")}>${xmlText(name)}</field>\n`;
}

function messagesElement({ messages }: ResultSet): string {
  if (messages.length === 0) return "";
  const lines = messages.map(({ type, text }) => `  <msg type="${type}">${xmlText(text)}</msg>\n`);
  return `<messages>\n${lines.join("")}</messages>\n\n`;
}

/** Makes a writer of rows as elements, without absent values. */
function resultWriter(columns: readonly ResultColumn[], markup: RawMarkup) {
  const fields = columns.map((column) => ({
    column,
    open: `\t\t<field k='${xmlAttribute(column.name)}'>`,
    isRaw: column.name === "_raw",
  }));
  return (row: Row, number: number): string => {
    let text = `\t<result offset='${number}'>\n`;
    for (const { column, open, isRaw } of fields) {
      const value = column.display(row, number);
      if (value === null) continue;
      if (isRaw) {
        const raw = typeof value === "string" ? value : value.join("\n");
        text += `${open}<v xml:space='preserve' trunc='0'>${markup(raw)}</v></field>\n`;
      } else {
        text += `${open}\n`;
        for (const one of typeof value === "string" ? [value] : value) {
          text += `\t\t\t<value><text>${xmlText(one)}</text></value>\n`;
        }
        text += "\t\t</field>\n";
      }
    }
    return `${text}\t</result>\n`;
  };
}

/** Results as XML. */
import type { ResultField, ResultSet, Shown } from "./result-set.ts";
import { xmlAttribute, xmlText } from "./xml.ts";

export const RESULTS_DECLARATION = "<?xml version='1.0' encoding='UTF-8'?>";

/** What is done to the text of `_raw`, which goes out as it is stored, with its segments marked if that is asked for. */
export type RawMarkup = (raw: string) => string;

/** A whole document. */
export function writeXml(set: ResultSet, markup: RawMarkup = xmlText): string {
  return `${RESULTS_DECLARATION}\n\n${resultsElement(set, markup)}`;
}

/** The element alone: an export has several, one after the other. */
export function resultsElement(set: ResultSet, markup: RawMarkup = xmlText): string {
  const preview = set.preview ? "1" : "0";
  if (set.rows.length === 0 && set.fields.length === 0 && set.messages.length === 0) {
    return `<results preview='${preview}'/>\n`;
  }
  return `${resultsHead(set)}${resultElements(set, markup)}</results>\n`;
}

/** The beginning of the element: its fields and messages. */
export function resultsHead(set: ResultSet): string {
  const fields = set.fields.map(fieldElement).join("");
  return [
    `<results preview='${set.preview ? "1" : "0"}'>\n`,
    `<meta>\n<fieldOrder>\n${fields}</fieldOrder>\n</meta>\n`,
    messagesElement(set),
  ].join("");
}

/** The rows. */
export function resultElements(set: ResultSet, markup: RawMarkup): string {
  return set.rows.map((row, index) => resultElement(set.fields, row, set.offset + index, markup)).join("");
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

function resultElement(
  fields: readonly ResultField[],
  row: readonly Shown[],
  offset: number,
  markup: RawMarkup,
): string {
  const members = fields.map(({ name }, index) => {
    const value = row[index] ?? null;
    if (value === null) return "";
    const key = xmlAttribute(name);
    if (name === "_raw") {
      const raw = typeof value === "string" ? value : value.join("\n");
      return `\t\t<field k='${key}'><v xml:space='preserve' trunc='0'>${markup(raw)}</v></field>\n`;
    }
    const values = typeof value === "string" ? [value] : value;
    const lines = values.map((one) => `\t\t\t<value><text>${xmlText(one)}</text></value>\n`);
    return `\t\t<field k='${key}'>\n${lines.join("")}\t\t</field>\n`;
  });
  return `\t<result offset='${offset}'>\n${members.join("")}\t</result>\n`;
}

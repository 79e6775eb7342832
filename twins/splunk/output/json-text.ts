/** Values of results as JSON. */
import type { ResultColumn, Row, Shown } from "./result-set.ts";

/** What has to be written otherwise in JSON; lone surrogates among them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/;

export function jsonText(value: Shown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return needsEscape.test(value) ? JSON.stringify(value) : `"${value}"`;
}

/** Writes rows as objects; absent values are left out. */
export function objectWriter(columns: readonly ResultColumn[]): (row: Row, number: number) => string {
  const members = columns.map((column) => ({ key: `${JSON.stringify(column.name)}:`, column }));
  return (row, number) => {
    let text = "";
    for (const { key, column } of members) {
      const value = column.shown(row, number);
      if (value !== null) text += (text === "" ? "{" : ",") + key + jsonText(value);
    }
    return text === "" ? "{}" : `${text}}`;
  };
}

/** Writes rows as arrays. */
export function arrayWriter(columns: readonly ResultColumn[]): (row: Row, number: number) => string {
  return (row, number) => {
    let text = "[";
    for (const column of columns) {
      if (text.length > 1) text += ",";
      text += jsonText(column.shown(row, number));
    }
    return `${text}]`;
  };
}

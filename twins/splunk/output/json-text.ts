/** Writes values and rows of results as JSON. */
import type { DisplayValue, ResultColumn, Row } from "./result-set.ts";

/** Characters that JSON has to escape, lone surrogates among them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression finds control characters
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/;

export function jsonText(value: DisplayValue): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return needsEscape.test(value) ? JSON.stringify(value) : `"${value}"`;
}

/** Makes a writer of rows as objects, without absent values. */
export function objectWriter(columns: readonly ResultColumn[]): (row: Row, number: number) => string {
  const members = columns.map((column) => ({ key: `${JSON.stringify(column.name)}:`, column }));
  return (row, number) => {
    let text = "";
    for (const { key, column } of members) {
      const value = column.display(row, number);
      if (value !== null) text += (text === "" ? "{" : ",") + key + jsonText(value);
    }
    return text === "" ? "{}" : `${text}}`;
  };
}

/** Makes a writer of rows as arrays. */
export function arrayWriter(columns: readonly ResultColumn[]): (row: Row, number: number) => string {
  return (row, number) => {
    let text = "[";
    for (const column of columns) {
      if (text.length > 1) text += ",";
      text += jsonText(column.display(row, number));
    }
    return `${text}]`;
  };
}

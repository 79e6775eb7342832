/**
 * Writes results as text: `csv`, `tsv`, `txt`.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-rest.html#esql-rest-format
 */

import { compactJson } from "../../json/write.ts";
import { illegalArgument } from "../../vendor/error.ts";
import type { EsqlResult } from "../run.ts";

export type TextFormat = "csv" | "tsv" | "txt";

export interface TextOptions {
  /** For csv. */
  delimiter: string;
  /** Whether the first line names the columns. */
  header: boolean;
}

export const contentTypes: Readonly<Record<TextFormat, string>> = {
  csv: "text/csv; charset=utf-8",
  tsv: "text/tab-separated-values; charset=utf-8",
  txt: "text/plain; charset=utf-8",
};

const LEAST_WIDTH = 15;

/** @throws VendorError */
export function readDelimiter(text: string | undefined): string {
  if (text === undefined) return ",";
  if ([...text].length !== 1)
    throw illegalArgument(`invalid ${text === "" ? "empty" : "multi-character"} delimiter [${text}]`);
  if (/["\n\r\t]/.test(text))
    throw illegalArgument(`illegal reserved character specified as delimiter [${text}]`);
  return text;
}

export function writeText(
  result: Pick<EsqlResult, "columns" | "values">,
  format: TextFormat,
  options: TextOptions,
): string {
  const names = result.columns.map(({ name }) => name);
  if (format === "txt")
    return table(
      names,
      result.values.map((row) => row.map((value) => cell(value, "null"))),
    );
  const rows = result.values.map((row) => row.map((value) => cell(value, "")));
  const lines = options.header ? [names, ...rows] : rows;
  if (format === "tsv") return lines.map((line) => `${line.map(escapeTsv).join("\t")}\n`).join("");
  return lines
    .map((line) => `${line.map((text) => quoteCsv(text, options.delimiter)).join(options.delimiter)}\r\n`)
    .join("");
}

function cell(value: unknown, missing: string): string {
  if (value === null || value === undefined) return missing;
  if (typeof value === "string") return value;
  return Array.isArray(value)
    ? `[${value.map((item) => cell(item, missing)).join(", ")}]`
    : compactJson(value);
}

function quoteCsv(text: string, delimiter: string): string {
  return text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function escapeTsv(text: string): string {
  return text.replaceAll("\t", "\\t").replaceAll("\n", "\\n");
}

function table(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = names.map((name, column) =>
    rows.reduce(
      (width, row) => Math.max(width, (row[column] ?? "").length),
      Math.max(LEAST_WIDTH, name.length),
    ),
  );
  const header = names.map((name, column) => center(name, widths[column] ?? 0)).join("|");
  const rule = widths.map((width) => "-".repeat(width)).join("+");
  const lines = rows.map((row) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join("|"));
  return [header, rule, ...lines].map((line) => `${line}\n`).join("");
}

function center(text: string, width: number): string {
  return text.padStart(text.length + Math.floor((width - text.length) / 2)).padEnd(width);
}

/**
 * Tables for people: aligned columns, or objects.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/cat.html
 */

import { matchesPattern } from "@offhook/platform/base/star-pattern";
import { illegalArgument } from "../vendor/error.ts";
import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";

export interface CatColumn {
  name: string;
  aliases: readonly string[];
  description: string;
  /** Whether the column is shown by default. */
  shown: boolean;
  /** Aligned to the right, as numbers are. */
  right?: boolean;
}

export type CatRow = Readonly<Record<string, string | undefined>>;

export const catParameters = ["v", "h", "s", "help", "local", "master_timeout", "bytes", "time", "ts"];

/** @throws VendorError for an unknown column in `s` */
export function catTable(call: Call, columns: readonly CatColumn[], rows: readonly CatRow[]): Answer {
  const { parameters } = call;
  if (parameters.flag("help")) return { body: help(columns) };
  const sorted = sortRows(rows, columns, parameters.list("s") ?? []);
  const wanted = selectColumns(columns, parameters.list("h"));
  if (isStructured(call)) {
    return {
      body: sorted.map((row) =>
        Object.fromEntries(wanted.map(({ label, column }) => [label, row[column.name] ?? null])),
      ),
    };
  }
  const cells = sorted.map((row) => wanted.map(({ column }) => row[column.name] ?? ""));
  const header = parameters.flag("v") ? [wanted.map(({ label }) => label)] : [];
  return {
    body: alignColumns(
      [...header, ...cells],
      wanted.map(({ column }) => column.right ?? false),
    ),
  };
}

/** Whether the request wants the rows as JSON or YAML objects. */
function isStructured({ parameters, request }: Call): boolean {
  const format = parameters.text("format");
  if (format !== undefined) return format === "json" || format === "yaml";
  const accept = request.headers.accept ?? "";
  return !accept.includes("text/plain") && /\b(json|yaml)\b/.test(accept);
}

function help(columns: readonly CatColumn[]): string {
  const rows = columns.map(({ name, aliases, description }) => [
    name,
    `| ${aliases.join(",") || "-"}`,
    `| ${description}`,
  ]);
  return alignColumns(rows, [false, false, false]);
}

/** The requested columns, under the names the request uses for them. */
function selectColumns(columns: readonly CatColumn[], asked: readonly string[] | undefined) {
  if (!asked) return columns.filter(({ shown }) => shown).map((column) => ({ label: column.name, column }));
  return asked.flatMap((label) => {
    if (label.includes("*")) {
      return columns
        .filter(({ name }) => matchesPattern(name, label))
        .map((column) => ({ label: column.name, column }));
    }
    const column = find(columns, label);
    return column ? [{ label, column }] : [];
  });
}

function find(columns: readonly CatColumn[], label: string): CatColumn | undefined {
  return columns.find(({ name, aliases }) => name === label || aliases.includes(label));
}

function sortRows(rows: readonly CatRow[], columns: readonly CatColumn[], keys: readonly string[]): CatRow[] {
  const orders = keys.map((key) => {
    const [label = "", order = "asc"] = key.split(":");
    const column = find(columns, label);
    if (!column) throw illegalArgument(`Unable to sort by unknown sort key \`${label}\``);
    return { column, sign: order === "desc" ? -1 : 1 };
  });
  return [...rows].sort((a, b) => {
    for (const { column, sign } of orders) {
      const order = compare(a[column.name] ?? "", b[column.name] ?? "", column.right ?? false);
      if (order !== 0) return order * sign;
    }
    return 0;
  });
}

function compare(a: string, b: string, numeric: boolean): number {
  if (numeric) return Number.parseFloat(a) - Number.parseFloat(b);
  return a < b ? -1 : a > b ? 1 : 0;
}

function alignColumns(rows: readonly (readonly string[])[], right: readonly boolean[]): string {
  const widths = right.map((_, index) => Math.max(0, ...rows.map((row) => (row[index] ?? "").length)));
  return rows
    .map((row) => {
      const cells = row.map((cell, index) => {
        const width = widths[index] ?? 0;
        if (right[index]) return cell.padStart(width);
        return index === row.length - 1 ? cell : cell.padEnd(width);
      });
      return `${cells.join(" ")}\n`;
    })
    .join("");
}

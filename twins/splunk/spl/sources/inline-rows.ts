/** Rows written in the search itself, as CSV or JSON: `makeresults format=csv data="…"`. */
import type { ResultValue } from "@offhook/log-store/store/log-store";
import { asField, type RowField, type Rows } from "../relation/rows.ts";
import { SplError } from "../spl-error.ts";

const ARRAY_NEEDED =
  "Incorrectly-formatted JSON data detected. Make sure your JSON-formatted data starts with '[' and ends with ']' and consists of JSON objects.";

export interface InlineData {
  readonly format: "csv" | "json";
  readonly data: string;
}

/** @throws SplError of phase `run` */
export function inlineRows({ format, data }: InlineData, nowSeconds: number): Rows {
  return format === "csv" ? csvRows(data) : jsonRows(data, nowSeconds);
}

/** The first record names the fields. An empty value is missing. */
function csvRows(data: string): Rows {
  const [names = [], ...records] = readCsvRecords(data);
  const fields = names.map((name): RowField => ({ name: name.trim(), type: "text", multi: false }));
  return { fields, rows: records.map((record) => names.map((_, index) => record[index] || null)) };
}

/** Reads an array of objects. Malformed JSON gives no rows, as in splunkd. */
function jsonRows(data: string, nowSeconds: number): Rows {
  const objects = parseObjects(data);
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))].filter(
    (name) => name !== "_raw",
  );
  const columns = names.map((name) => objects.map((object) => inlineValue(object[name])));
  const fields = names.map((name, index): RowField => {
    const values = (columns[index] ?? []).filter((value) => value !== null);
    return {
      name,
      type: values.every((value) => typeof value === "number") ? "number" : "text",
      multi: false,
    };
  });
  const time = names.includes("_time") ? [] : [{ name: "_time", type: "number", multi: false } as const];
  return {
    fields: [{ name: "_raw", type: "text", multi: false }, ...time, ...fields],
    rows: objects.map((object, row) => [
      JSON.stringify(object),
      ...time.map(() => nowSeconds),
      ...fields.map((field, index) => asField(field, columns[index]?.[row] ?? null)),
    ]),
  };
}

function parseObjects(data: string): Record<string, unknown>[] {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return [];
  }
  if (!Array.isArray(value)) throw new SplError(ARRAY_NEEDED, "run");
  return value.map((one: unknown) => {
    if (typeof one === "object" && one !== null && !Array.isArray(one))
      return Object.fromEntries(Object.entries(one));
    throw new SplError(
      `Incorrectly-formatted JSON data detected. The data entry '${JSON.stringify(one)}' is not permitted in the 'data' option. Only comma-separated JSON objects are permitted.`,
      "run",
    );
  });
}

/** Objects and arrays stay JSON text. */
function inlineValue(value: unknown): ResultValue {
  if (value === undefined || value === null) return null;
  if (typeof value === "string" || typeof value === "number") return value;
  return typeof value === "boolean" ? String(value) : JSON.stringify(value);
}

/** Reads CSV (RFC 4180): all records, the header included. Quoted values may contain commas, line breaks and doubled quotes. */
function readCsvRecords(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let at = 0;
  while (at < text.length) {
    const value = valueAt(text, at);
    record.push(value.text);
    at = value.end;
    const separator = text[at];
    at += text.startsWith("\r\n", at) ? 2 : 1;
    if (separator === "," && at < text.length) continue;
    if (separator === ",") record.push("");
    if (record.length > 1 || record[0] !== "") records.push(record);
    record = [];
  }
  return records;
}

function valueAt(text: string, start: number): { text: string; end: number } {
  if (text[start] !== '"') {
    const end = endOfPlain(text, start);
    return { text: text.slice(start, end), end };
  }
  let value = "";
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return { text: value + text.slice(at), end: text.length };
    value += text.slice(at, quote);
    at = quote + 1;
    if (text[at] !== '"') break;
    value += '"';
    at++;
  }
  const end = endOfPlain(text, at);
  return { text: value + text.slice(at, end), end };
}

function endOfPlain(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    if (text[at] === "," || text[at] === "\n" || text[at] === "\r") return at;
  }
  return text.length;
}

/** Rows that stand in the search itself, as CSV or as JSON: `makeresults format=csv data="…"`. */
import type { ResultValue } from "../../datasets/store/log-store.ts";
import { readCsvRecords } from "./csv-records.ts";
import { asField, type RowField, type Rows } from "./rows.ts";
import { commandError } from "./spl-error.ts";

export interface InlineData {
  readonly format: "csv" | "json";
  readonly data: string;
}

/** @throws SplError of phase `run` */
export function inlineRows({ format, data }: InlineData, nowSeconds: number): Rows {
  return format === "csv" ? csvRows(data) : jsonRows(data, nowSeconds);
}

/** The first record names the fields; an empty value is a missing one. */
function csvRows(data: string): Rows {
  const [names = [], ...records] = readCsvRecords(data);
  if (names.length === 0) throw invalid("CSV", "there is no header");
  const fields = names.map((name): RowField => ({ name: name.trim(), type: "text", multi: false }));
  return { fields, rows: records.map((record) => names.map((_, index) => record[index] || null)) };
}

/** An array of objects, or one object. */
function jsonRows(data: string, nowSeconds: number): Rows {
  const objects = parsed(data);
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))].filter(
    (name) => name !== "_raw",
  );
  const columns = names.map((name) => objects.map((object) => inlineValue(object[name])));
  const fields = names.map((name, index): RowField => {
    const values = (columns[index] ?? []).filter((value) => value !== null);
    const multi = values.some(Array.isArray);
    const isNumber = values.flat().every((value) => typeof value === "number");
    return { name, type: isNumber ? "number" : "text", multi };
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

function parsed(data: string): Record<string, unknown>[] {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw invalid("JSON", "it cannot be read");
  }
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.map((one) => {
    if (typeof one !== "object" || one === null || Array.isArray(one))
      throw invalid("JSON", "objects are expected");
    return Object.fromEntries(Object.entries(one));
  });
}

/** Objects stay the text they are. */
function inlineValue(value: unknown): ResultValue {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) {
    const values = value.map(inlineValue).filter((one) => one !== null);
    return values.length === 0 ? null : values.map((one) => (Array.isArray(one) ? JSON.stringify(one) : one));
  }
  if (typeof value === "string" || typeof value === "number") return value;
  return typeof value === "boolean" ? String(value) : JSON.stringify(value);
}

function invalid(format: string, reason: string) {
  return commandError("makeresults", `The data is no ${format}: ${reason}.`, "run");
}

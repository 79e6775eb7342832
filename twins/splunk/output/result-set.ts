/** Pages of results: rows, and columns that turn a row's values into text when a writer asks for it. */
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { RowField } from "../spl/relation/rows.ts";
import type { SearchMessage } from "../spl/spl-error.ts";

/** A value as results show it: `null` when absent, an array of several values, else a string. */
export type DisplayValue = string | readonly string[] | null;

export interface ResultField {
  readonly name: string;
  /** Position among the BY fields of a report. */
  readonly groupRank?: number;
  /** Marks a column made by `top` or `rare`. */
  readonly special?: "count" | "percent";
  /** `add_summary_to_metadata`: statistics of the values, by their names in the metadata. */
  readonly summary?: Readonly<Record<string, string>>;
}

export type Row = readonly ResultValue[];

export interface ResultColumn extends ResultField {
  /** The value to show. @param number index of the row among all */
  display(row: Row, number: number): DisplayValue;
}

/** A page of results. */
export interface ResultSet {
  /** Whether the search is still running. */
  readonly preview: boolean;
  /** Index of the first row among all. */
  readonly offset: number;
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly Row[];
  readonly messages: readonly SearchMessage[];
  /** Whether the set continues another one: the head of the document is written already. */
  readonly isContinuation?: boolean;
  /** Whether another set continues this one: the document's end is not written yet. */
  readonly hasMore?: boolean;
  /** Number of rows that a search over the results found, on whichever page. */
  readonly postProcessCount?: number;
}

export interface DisplayOptions {
  /** Formats a time, given in seconds since the epoch. */
  time(seconds: number): string;
  /** Maximum of lines of an event; 0: all. */
  readonly maxLines: number;
}

/** Makes columns of the fields of rows. */
export function toColumns(fields: readonly RowField[], { time, maxLines }: DisplayOptions): ResultColumn[] {
  return fields.map(({ name, groupRank }, index) => ({
    name,
    ...(groupRank === undefined ? {} : { groupRank }),
    display: displayOf(name, index, time, maxLines),
  }));
}

function displayOf(
  name: string,
  index: number,
  time: DisplayOptions["time"],
  maxLines: number,
): ResultColumn["display"] {
  if (name === "_time") return (row) => displayTime(row[index] ?? null, time);
  if (name !== "_raw" || maxLines === 0) return (row) => displayValue(row[index] ?? null);
  return (row) => {
    const value = displayValue(row[index] ?? null);
    return typeof value === "string" ? value.split("\n", maxLines).join("\n") : value;
  };
}

export function displayValue(value: ResultValue): DisplayValue {
  if (value === null || typeof value === "string") return value;
  return Array.isArray(value) ? displayList(value, textOf) : textOf(value);
}

/** Unwraps a list of one value, as splunkd does. */
function displayList(values: readonly ResultValue[], text: (value: ResultValue) => string): DisplayValue {
  return values.length === 1 ? text(values[0] ?? null) : values.map(text);
}

function displayTime(value: ResultValue, time: (seconds: number) => string): DisplayValue {
  if (value === null) return null;
  if (Array.isArray(value)) return displayList(value, (one) => timeText(one, time));
  return timeText(value, time);
}

function timeText(value: ResultValue, time: (seconds: number) => string): string {
  const seconds = typeof value === "string" && value.trim() === "" ? Number.NaN : Number(value);
  return Number.isFinite(seconds) ? time(seconds) : textOf(value);
}

/** Writes whole numbers without a fraction, and NaN and infinity as C does. */
function textOf(value: ResultValue): string {
  if (typeof value === "number") {
    if (Number.isFinite(value)) return String(value);
    if (Number.isNaN(value)) return "nan";
    return value > 0 ? "inf" : "-inf";
  }
  if (value === null) return "";
  return Array.isArray(value) ? value.map(textOf).join("\n") : String(value);
}

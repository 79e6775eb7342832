/** Rows of a search in the form in which results go out: in pages, of columns that say what they show. They become text when they are written. */
import type { ResultValue } from "@offhook/log-store/store/log-store";
import type { RowField } from "../spl/relation/rows.ts";
import type { SearchMessage } from "../spl/spl-error.ts";

/** A value as results show it. An absent one is `null`; several values are an array, one value is a text however it was made. */
export type Shown = string | readonly string[] | null;

export interface ResultField {
  readonly name: string;
  /** Position among the BY fields of a report. */
  readonly groupRank?: number;
  /** A column that `top` and `rare` make. */
  readonly special?: "count" | "percent";
  /** `add_summary_to_metadata`: statistics of its values, by the names that metadata has for them. */
  readonly summary?: Readonly<Record<string, string>>;
}

export type Row = readonly ResultValue[];

export interface ResultColumn extends ResultField {
  /** @param number of the row among all */
  shown(row: Row, number: number): Shown;
}

/** A page of results. */
export interface ResultSet {
  /** Whether the search goes on. */
  readonly preview: boolean;
  /** Number of the first row among all. */
  readonly offset: number;
  readonly columns: readonly ResultColumn[];
  readonly rows: readonly Row[];
  readonly messages: readonly SearchMessage[];
  /** Whether it goes on with what another set began: what stands before all rows has been written. */
  readonly continues?: boolean;
  /** Whether others go on with it: what ends them is not to be written yet. */
  readonly goesOn?: boolean;
  /** How many rows a search over the results left; said of an empty page too. */
  readonly postProcessCount?: number;
}

export interface Showing {
  /** Text of a moment: seconds since the epoch. */
  time(seconds: number): string;
  /** Lines of an event that are shown; 0: all. */
  readonly maxLines: number;
}

/** The fields of rows as columns. */
export function columnsOf(fields: readonly RowField[], { time, maxLines }: Showing): ResultColumn[] {
  return fields.map(({ name, groupRank }, index) => ({
    name,
    ...(groupRank === undefined ? {} : { groupRank }),
    shown: shownBy(name, index, time, maxLines),
  }));
}

function shownBy(
  name: string,
  index: number,
  time: Showing["time"],
  maxLines: number,
): ResultColumn["shown"] {
  if (name === "_time") return (row) => shownTime(row[index] ?? null, time);
  if (name !== "_raw" || maxLines === 0) return (row) => shown(row[index] ?? null);
  return (row) => {
    const value = shown(row[index] ?? null);
    return typeof value === "string" ? value.split("\n", maxLines).join("\n") : value;
  };
}

export function shown(value: ResultValue): Shown {
  if (value === null || typeof value === "string") return value;
  return Array.isArray(value) ? listOf(value, textOf) : textOf(value);
}

/** splunkd keeps a list of one value as the value: its results do not tell them apart. */
function listOf(values: readonly ResultValue[], text: (value: ResultValue) => string): Shown {
  return values.length === 1 ? text(values[0] ?? null) : values.map(text);
}

function shownTime(value: ResultValue, time: (seconds: number) => string): Shown {
  if (value === null) return null;
  if (Array.isArray(value)) return listOf(value, (one) => timeText(one, time));
  return timeText(value, time);
}

function timeText(value: ResultValue, time: (seconds: number) => string): string {
  const seconds = typeof value === "string" && value.trim() === "" ? Number.NaN : Number(value);
  return Number.isFinite(seconds) ? time(seconds) : textOf(value);
}

/** A number without a fraction has none; what is no number is said as C says it. */
function textOf(value: ResultValue): string {
  if (typeof value === "number") {
    if (Number.isFinite(value)) return String(value);
    if (Number.isNaN(value)) return "nan";
    return value > 0 ? "inf" : "-inf";
  }
  if (value === null) return "";
  return Array.isArray(value) ? value.map(textOf).join("\n") : String(value);
}

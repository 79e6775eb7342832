/** Rows of a search in the form in which results go out: texts, in pages. */
import type { ResultValue } from "../../datasets/store/log-store.ts";
import type { Rows } from "../spl/rows.ts";
import type { SearchMessage } from "../spl/spl-error.ts";

/** A value as results show it. An absent one is `null`; a multi-value is an array. */
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

/** A page of results. */
export interface ResultSet {
  /** Whether the search goes on. */
  readonly preview: boolean;
  /** Number of the first row among all. */
  readonly offset: number;
  readonly fields: readonly ResultField[];
  readonly rows: readonly (readonly Shown[])[];
  readonly messages: readonly SearchMessage[];
  /** How many rows a search over the results left; said of an empty page too. */
  readonly postProcessCount?: number;
}

export interface Showing {
  /** Text of a moment: seconds since the epoch. */
  time(seconds: number): string;
}

/** Rows as texts. */
export function shownRows({ fields, rows }: Rows, { time }: Showing): (readonly Shown[])[] {
  const timeColumn = fields.findIndex(({ name }) => name === "_time");
  return rows.map((row) =>
    row.map((value, column) => (column === timeColumn ? shownTime(value, time) : shown(value))),
  );
}

export function shown(value: ResultValue): Shown {
  if (value === null) return null;
  return Array.isArray(value) ? value.map(textOf) : textOf(value);
}

function shownTime(value: ResultValue, time: (seconds: number) => string): Shown {
  if (value === null) return null;
  if (Array.isArray(value)) return value.map((one) => timeText(one, time));
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

/** The columns that `keep` names, in the order of the set. */
export function withFields(set: ResultSet, keep: (name: string) => boolean): ResultSet {
  const kept = set.fields.flatMap(({ name }, index) => (keep(name) ? [index] : []));
  if (kept.length === set.fields.length) return set;
  return {
    ...set,
    fields: set.fields.filter((_, index) => kept.includes(index)),
    rows: set.rows.map((row) => kept.map((index) => row[index] ?? null)),
  };
}

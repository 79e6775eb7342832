/** Parses spans of bins: `10`, `5m`, `1d`, `1w@w1`, `2log10`. */
import type { OptionType } from "../syntax/argument-reader.ts";
import { findTimeUnit, type TimeUnit } from "../time/time-units.ts";

export type Span =
  /** In units of the field; for `_time`, seconds. `decimals`: digits after the decimal point. */
  | { readonly kind: "plain"; readonly size: number; readonly decimals: number }
  /** Bins end at coefficient · base^n. */
  | { readonly kind: "log"; readonly coefficient: number; readonly base: number }
  | TimeSpan;

export interface TimeSpan {
  readonly kind: "time";
  readonly count: number;
  readonly unit: TimeUnit;
  /** `@d` aligns bins to calendar days, `@w1` to Mondays. */
  readonly snap: { readonly unit: TimeUnit; readonly weekday: number } | undefined;
}

const timeSpan = /^(\d*)([a-z]+)(?:@([a-z]+)(\d?))?$/i;
const logSpan = /^(\d+(?:\.\d+)?)?log(\d+(?:\.\d+)?)?$/i;
const plainSpan = /^(\d+(?:\.(\d+))?|\.(\d+))$/;

/** @returns `undefined` when the text is no span */
export function parseSpan(text: string): Span | undefined {
  const plain = plainSpan.exec(text);
  if (plain !== null) {
    const size = Number(text);
    const decimals = (plain[2] ?? plain[3] ?? "").length;
    return size > 0 ? { kind: "plain", size, decimals } : undefined;
  }
  const log = logSpan.exec(text);
  if (log !== null) {
    const coefficient = Number(log[1] ?? 1);
    const base = Number(log[2] ?? 10);
    return base > 1 && coefficient >= 1 && coefficient < base
      ? { kind: "log", coefficient, base }
      : undefined;
  }
  return parseTimeSpan(text);
}

/** @returns `undefined` when the text is no span of time */
export function parseTimeSpan(text: string): TimeSpan | undefined {
  const [, digits = "", name = "", snapName, weekday = ""] = timeSpan.exec(text) ?? [];
  const unit = findTimeUnit(name);
  const count = digits === "" ? 1 : Number(digits);
  if (unit === undefined || count < 1 || count > 1e9) return undefined;
  if (snapName === undefined) return { kind: "time", count, unit, snap: undefined };
  const snapUnit = findTimeUnit(snapName);
  if (snapUnit === undefined || Number(weekday) > 7) return undefined;
  return { kind: "time", count, unit, snap: { unit: snapUnit, weekday: Number(weekday) % 7 } };
}

/** Option type of a bin's span. */
export const span: OptionType<Span | "auto"> = {
  expected: "time span or number",
  read: (text) => (text.toLowerCase() === "auto" ? "auto" : parseSpan(text)),
};

/** The span as time: a plain number counts seconds; `undefined` for a logarithmic one. */
export function timeSpanOf(given: Span): TimeSpan | undefined {
  if (given.kind === "time") return given;
  if (given.kind === "log") return undefined;
  return {
    kind: "time",
    count: given.size,
    unit: { kind: "fixed", ms: 1_000, name: "second" },
    snap: undefined,
  };
}

/** Options that choose and name the series of `chart` and `timechart`. */
import type { ArgumentReader, OptionType } from "../syntax/argument-reader.ts";
import { boolean, text } from "../syntax/option-types.ts";

/** Which series are shown by name: the first or last by score, or those beyond a threshold. */
export type Selection =
  | {
      readonly kind: "rank";
      readonly end: "top" | "bottom";
      readonly count: number;
      readonly inside: boolean;
    }
  | { readonly kind: "threshold"; readonly comparator: "<" | ">"; readonly value: number };

const ranked = /^(top|bottom)?\s*(\d{1,6})$/i;

const limit: OptionType<Selection | "all"> = {
  expected: "number of series",
  read(given) {
    const [, end = "top", digits] = ranked.exec(given.trim()) ?? [];
    if (digits === undefined) return undefined;
    const count = Number(digits);
    if (count === 0) return "all";
    return { kind: "rank", end: end.toLowerCase() === "bottom" ? "bottom" : "top", count, inside: true };
  },
};

/** For `ArgumentReader.options`. They may stand before the aggregates and after the series field. */
export const seriesOptionTypes = {
  limit,
  useother: boolean,
  usenull: boolean,
  otherstr: text,
  nullstr: text,
  sep: text,
  format: text,
  cont: boolean,
  dedup_splitvals: boolean,
};

export interface SeriesOptions {
  limit?: Selection | "all";
  useother?: boolean;
  usenull?: boolean;
  otherstr?: string;
  nullstr?: string;
  sep?: string;
  format?: string;
  cont?: boolean;
  dedup_splitvals?: boolean;
}

/** `where sum in top5`, `where max > 100`. */
export interface SeriesCondition {
  /** Aggregate of the series' values, by its name in `stats`. */
  readonly score: string;
  readonly selection: Selection;
}

/** Reads a WHERE clause if one is next. @throws SplError */
export function readSeriesCondition(reader: ArgumentReader): SeriesCondition | undefined {
  if (!reader.keyword("where")) return undefined;
  const score = reader.text("the aggregate of the 'where' clause").toLowerCase();
  // splunkd ignores the argument: the aggregate is always over the series.
  reader.parenthesized();
  for (const comparator of ["<", ">"] as const) {
    if (!reader.symbol(comparator)) continue;
    return {
      score,
      selection: { kind: "threshold", comparator, value: reader.number("the 'where' clause") },
    };
  }
  const inside = reader.keyword("in");
  if (!inside && !reader.keyword("notin")) reader.fail("The 'where' clause needs '<', '>', 'in' or 'notin'.");
  const words = reader.text("the series of the 'where' clause");
  const [, end, digits] =
    ranked.exec(/\d$/.test(words) ? words : `${words} ${reader.text("a number of series")}`) ?? [];
  if (end === undefined || digits === undefined)
    return reader.fail(`Invalid series '${words}' in the 'where' clause.`);
  const count = Number(digits);
  return {
    score,
    selection: { kind: "rank", end: end.toLowerCase() === "bottom" ? "bottom" : "top", count, inside },
  };
}

/** Bins of numbers, as ranges: `500-510`. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { formatPlaces } from "../eval/precision.ts";
import { bindOnce, numberOf, type Typed, textOf } from "../relation/typed.ts";
import type { Span } from "./span.ts";

export interface BinOptions {
  bins?: number;
  span?: Span | "auto";
  minspan?: Span | "auto";
  start?: number;
  end?: number;
  aligntime?: string;
}

export const DEFAULT_BINS = 100;

/** Least and greatest value of a field. */
export interface Extent {
  least: number;
  greatest: number;
  /** Whether all numbers are whole. */
  whole?: boolean;
}

/** The ranges of a field's numbers, as text. Values that are no numbers stay unchanged. */
export async function binNumbers(
  value: Typed,
  options: BinOptions,
  extent: () => Promise<Extent | undefined>,
): Promise<Typed> {
  const { span } = options;
  if (span !== undefined && span !== "auto" && span.kind === "log") {
    return rangeOf(value, (number) => logBinEdges(number, span.coefficient, span.base));
  }
  if (span !== undefined && span !== "auto" && span.kind === "plain") {
    return rangeOf(value, (number) => binEdges(number, span.size, span.decimals), span.decimals);
  }
  const found = await extent();
  if (found === undefined) return value;
  const least = Math.min(found.least, options.start ?? found.least);
  const greatest = Math.max(found.greatest, options.end ?? found.greatest);
  const minSpan = options.minspan;
  const minSize = minSpan !== undefined && minSpan !== "auto" && minSpan.kind === "plain" ? minSpan.size : 0;
  // Bins of whole numbers are at least 1 wide.
  const minimum = found.whole ? Math.max(minSize, 1) : minSize;
  const { size, decimals } = chooseBinSize(
    least,
    greatest,
    Math.max(1, options.bins ?? DEFAULT_BINS),
    minimum,
  );
  return rangeOf(value, (number) => binEdges(number, size, decimals), decimals);
}

export interface Range {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

const NUMBER = "-?[0-9]+(?:\\.[0-9]+)?(?:e[-+]?[0-9]+)?";

/** Reads `-10-0` as -10 to 0. */
export function parseRange(text: string): Range | undefined {
  const [, from, to] = new RegExp(`^(${NUMBER})-(${NUMBER})$`).exec(text) ?? [];
  return from === undefined || to === undefined ? undefined : { text, from: Number(from), to: Number(to) };
}

/** The start of a range, DOUBLE; NULL for text that is no range. */
export function rangeStart(text: Sql): Sql {
  return sql`TRY_CAST(regexp_extract(${text}, ${`^(${NUMBER})-${NUMBER}$`}, 1) AS DOUBLE)`;
}

/** The smallest power of ten that needs at most `bins` bins. */
function chooseBinSize(least: number, greatest: number, bins: number, minimum: number) {
  const wanted = Math.max((greatest - least) / bins, minimum);
  let exponent = wanted > 0 ? Math.ceil(Math.log10(wanted) - 1e-9) : 0;
  while (Math.floor(greatest / 10 ** exponent) - Math.floor(least / 10 ** exponent) + 1 > bins) exponent++;
  return { size: 10 ** exponent, decimals: Math.max(0, -exponent) };
}

/** @param decimals both edges show at least this many */
function rangeOf(value: Typed, of: (number: Sql) => { from: Sql; to: Sql }, decimals = 0): Typed {
  const number =
    value.type === "number" && !value.multi ? sql`CAST(${value.sql} AS DOUBLE)` : numberOf(value);
  const text = value.multi ? sql`CAST(NULL AS VARCHAR)` : textOf(value);
  const range = bindOnce(number, (one) => {
    const { from, to } = of(one);
    const edge = (at: Sql) =>
      decimals > 0 ? formatPlaces(at, decimals) : textOf({ type: "number", multi: false, sql: at });
    return sql`CASE WHEN ${one} IS NULL THEN ${text} ELSE ${edge(from)} || '-' || ${edge(to)} END`;
  });
  return { type: "text", multi: false, sql: range };
}

function binEdges(number: Sql, size: number, decimals: number) {
  const length = sql`CAST(${size} AS DOUBLE)`;
  const digits = raw(String(decimals));
  const index = sql`floor(round(${number} / ${length}, 9))`;
  return {
    from: sql`round(${index} * ${length}, ${digits})`,
    to: sql`round((${index} + 1) * ${length}, ${digits})`,
  };
}

/** Edges of logarithmic bins; both are 0 for numbers that have no logarithm. */
function logBinEdges(number: Sql, coefficient: number, base: number) {
  const factor = sql`CAST(${coefficient} AS DOUBLE)`;
  const root = sql`CAST(${base} AS DOUBLE)`;
  const index = sql`floor(round(ln(CASE WHEN ${number} > 0 THEN ${number} / ${factor} END) / ln(${root}), 9))`;
  const edge = (power: Sql) =>
    sql`CASE WHEN ${number} > 0 THEN round(${factor} * pow(${root}, ${power}), 9) ELSE 0.0 END`;
  return { from: edge(index), to: edge(sql`(${index} + 1)`) };
}

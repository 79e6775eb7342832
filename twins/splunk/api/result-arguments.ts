/** Reads which part of the results a request asks for, and in which form. */
import type { ResultsMode } from "../output/write-results.ts";
import { hasWildcard, isLike } from "../spl/relation/wildcards.ts";
import { invalidArgument } from "./arguments.ts";
import type { Call } from "./call.ts";

/** Maximum of rows in a response: `maxresultrows`. */
export const MAX_ROWS = 50_000;

export interface ResultArguments {
  readonly mode: ResultsMode | "atom";
  /** 0: all. */
  readonly count: number;
  /** Below 0: counted from the end. */
  readonly offset: number;
  /** Whether to show a field; absent: all are shown. */
  readonly showsField: ((name: string) => boolean) | undefined;
  /** A search over the results. */
  readonly search: string | undefined;
  readonly summary: boolean;
  readonly segmentation: string;
  /** Maximum of lines of an event; 0: all. */
  readonly maxLines: number;
  readonly truncation: "abstract" | "truncate";
  readonly timeFormat: string | undefined;
}

/** @throws RestError 400 */
export function readResultArguments(call: Call): ResultArguments {
  const given = call.arguments;
  const truncation = given.text("truncation_mode") ?? "abstract";
  if (truncation !== "abstract" && truncation !== "truncate") {
    throw invalidArgument("truncation_mode", truncation);
  }
  return {
    mode: call.mode,
    count: Math.min(given.integer("count", 100), MAX_ROWS),
    offset: given.integer("offset", 0, -Number.MAX_SAFE_INTEGER),
    showsField: fieldFilter([...given.all("f"), ...(given.text("field_list")?.split(/[\s,]+/) ?? [])]),
    search: given.text("search"),
    summary: given.flag("add_summary_to_metadata", false),
    segmentation: given.text("segmentation") ?? "none",
    maxLines: given.integer("max_lines", 0),
    truncation,
    timeFormat: given.text("output_time_format") ?? given.text("time_format"),
  };
}

function fieldFilter(names: readonly string[]): ((name: string) => boolean) | undefined {
  const asked = names.filter((name) => name !== "");
  if (asked.length === 0) return undefined;
  const exact = new Set(asked);
  const patterns = asked.filter(hasWildcard);
  return (name) => exact.has(name) || patterns.some((pattern) => isLike(name, pattern));
}

/** Bounds of the page; it may begin behind the last row. */
export function pageBounds({ count, offset }: ResultArguments, total: number): { from: number; to: number } {
  const from = offset < 0 ? Math.max(0, total + offset) : offset;
  const to = Math.max(from, Math.min(total, from + (count === 0 ? MAX_ROWS : count)));
  return { from, to };
}

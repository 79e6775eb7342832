/** How an aggregate of `stats` and its like is declared: once, for the commands and the manual. */
import type { Typed } from "../../relation/typed.ts";
import type { Site } from "../site.ts";
import type { Values } from "../values.ts";

/** Where an aggregate is used. */
export interface Use {
  readonly site: Site;
  /** What stands behind the name's letters: 95 of `p95`. */
  readonly parameter: number;
}

export interface StatsFunction {
  name: string;
  /** Other names. */
  aliases?: readonly string[];
  /** What it is called with a number behind it: `p`, `perc`. It has no name of its own then. */
  prefixes?: readonly string[];
  /** `sum(field)` */
  syntax: string;
  /** One sentence. */
  summary: string;
  /** Whether it is of numbers alone, so that `allnum=t` concerns it. */
  numeric: boolean;
  compile(values: Values, use: Use): Typed;
}

export const number = (sql: Typed["sql"]): Typed => ({ type: "number", multi: false, sql });
export const texts = (sql: Typed["sql"]): Typed => ({ type: "text", multi: true, sql });

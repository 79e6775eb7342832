/** The declaration of an aggregate function, from which commands and manual are made. */
import type { Typed } from "../../relation/typed.ts";
import type { Site } from "../site.ts";
import type { Values } from "../values.ts";

/** Where an aggregate is used. */
interface Use {
  readonly site: Site;
  /** The number in the name: 95 in `p95`. */
  readonly parameter: number;
}

export interface StatsFunction {
  name: string;
  /** Other names. */
  aliases?: readonly string[];
  /** Names that take a number: `p`, `perc`. Such a function has no plain name. */
  prefixes?: readonly string[];
  /** `sum(field)` */
  syntax: string;
  /** One sentence. */
  summary: string;
  /** Whether it takes numbers only, so that `allnum=t` applies. */
  numeric: boolean;
  compile(values: Values, use: Use): Typed;
}

/** A function as a search names it. */
export interface FoundFunction {
  declared: StatsFunction;
  /** 95 in `p95`. */
  parameter: number;
}

export const number = (sql: Typed["sql"]): Typed => ({ type: "number", multi: false, sql });
export const texts = (sql: Typed["sql"]): Typed => ({ type: "text", multi: true, sql });

/** Tokens of ES|QL. */
import type { Span } from "./errors.ts";

export const sourceCommands = ["explain", "from", "meta", "metrics", "row", "show"] as const;
export const processingCommands = [
  "dissect",
  "drop",
  "enrich",
  "eval",
  "grok",
  "inlinestats",
  "keep",
  "limit",
  "lookup",
  "mv_expand",
  "rename",
  "sort",
  "stats",
  "where",
] as const;

/** Words of expressions that are no names; case does not count. */
export const expressionKeywords = new Set([
  "and",
  "asc",
  "by",
  "desc",
  "false",
  "first",
  "in",
  "is",
  "last",
  "like",
  "not",
  "null",
  "nulls",
  "or",
  "rlike",
  "true",
]);

/**
 * `keyword` and `symbol` are what they say, in lower case; `command` the word that begins a command; `name` an identifier
 * (`value` without its quotes); `pattern` a name with `*` in it, or without; `source` an index expression; `param` the text behind `?`.
 */
export type TokenKind =
  | "command"
  | "keyword"
  | "symbol"
  | "name"
  | "pattern"
  | "source"
  | "string"
  | "integer"
  | "decimal"
  | "param"
  | "end";

export interface Token extends Span {
  kind: TokenKind;
  /** What it means: a string without quotes and escapes, a keyword in lower case. */
  value: string;
  /** Whether a name stood in backquotes; its `*` is then a character. */
  quoted: boolean;
}

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

/** Case-insensitive keywords of expressions, which are no identifiers. */
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
 * `keyword` and `symbol` hold their text in lower case; `command` begins a command; `name` is an identifier (`value` is
 * unquoted); `pattern` is an identifier that may hold `*`; `source` is an index expression; `param` is the text after
 * `?`.
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
  /** The meaning: a string without quotes and escapes, a keyword in lower case. */
  value: string;
  /** Whether the name was in backquotes, which make `*` a plain character. */
  quoted: boolean;
}

/** The syntax tree of a query. */
import type { Span } from "./errors.ts";

/** `1 day`. Calendar units count as years, months and days, which do not convert; clock units as milliseconds. */
export interface TimeSpan {
  years: number;
  months: number;
  days: number;
  ms: number;
  /** Whether the units are of the clock (the vendor's `time_duration`) or of the calendar (`date_period`). */
  clock: boolean;
}

/** A typed literal: `1` is an integer, `5000000000` a long. */
export type Literal =
  | { type: "null" }
  | { type: "boolean"; value: boolean }
  | { type: "keyword"; value: string }
  | { type: "integer" | "long" | "unsigned_long"; value: bigint }
  | { type: "double"; value: number }
  | { type: "span"; value: TimeSpan };

export type ArithmeticOperator = "+" | "-" | "*" | "/" | "%";
export type ComparisonOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "=~";

interface Node {
  at: Span;
  /** Height of the tree, including this node. */
  depth: number;
}

export type Expression = Node &
  (
    | { kind: "literal"; literal: Literal }
    | { kind: "list"; items: Literal[] }
    | { kind: "column"; name: string }
    | { kind: "call"; name: string; nameAt: Span; args: Expression[]; star: boolean }
    | { kind: "negate"; operand: Expression }
    | { kind: "arithmetic"; operator: ArithmeticOperator; left: Expression; right: Expression }
    | { kind: "comparison"; operator: ComparisonOperator; left: Expression; right: Expression }
    | { kind: "not"; operand: Expression }
    | { kind: "logical"; operator: "AND" | "OR"; left: Expression; right: Expression }
    | { kind: "in"; value: Expression; list: Expression[] }
    | { kind: "is null"; value: Expression; negated: boolean }
    | { kind: "like"; operator: "LIKE" | "RLIKE"; value: Expression; pattern: string; patternAt: Span }
    | { kind: "cast"; value: Expression; type: string; typeAt: Span }
  );

/** An expression with the name of its column: the given one, or its own text. */
export interface NamedExpression {
  name: string;
  expression: Expression;
  at: Span;
}

/** A name in KEEP, DROP or RENAME; in a `pattern`, `*` matches any characters. */
export interface NamePattern {
  text: string;
  /** The parts between the `*`; a plain name has one. */
  parts: string[];
  at: Span;
}

export interface SortKey {
  expression: Expression;
  descending: boolean;
  nullsFirst: boolean;
}

export type Command = { at: Span } & (
  | { kind: "from"; sources: { text: string; at: Span }[]; metadata: { name: string; at: Span }[] }
  | { kind: "row"; fields: NamedExpression[] }
  | { kind: "show info" }
  | { kind: "where"; condition: Expression }
  | { kind: "eval"; fields: NamedExpression[] }
  | { kind: "stats"; aggregates: NamedExpression[]; groups: NamedExpression[] }
  | { kind: "sort"; keys: SortKey[] }
  | { kind: "limit"; count: number }
  | { kind: "keep"; patterns: NamePattern[] }
  | { kind: "drop"; patterns: NamePattern[] }
  | { kind: "rename"; renames: { from: NamePattern; to: NamePattern }[] }
  | { kind: "dissect"; input: Expression; pattern: string; separator: string }
  | { kind: "grok"; input: Expression; pattern: string }
  | { kind: "mv_expand"; name: string; nameAt: Span }
  | { kind: "unserved"; what: string }
);

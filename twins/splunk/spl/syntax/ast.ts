/** The abstract syntax tree of a search. Offsets count UTF-16 units of the search after its macros are expanded. */

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** How a command works on rows, as `/services/search/parser` says it. */
export type CommandKind = "streaming" | "report" | "events" | "stateful" | "generating";

/** A command with its arguments. */
export interface ParsedCommand {
  readonly name: string;
  readonly kind: CommandKind;
  /** Plain data, whose shape only the command knows. For `/services/search/parser` and for tests. */
  readonly args: unknown;
  /** The arguments as written. */
  readonly rawArgs: string;
}

/** Commands with `|` between them. */
export interface Pipeline {
  readonly commands: readonly ParsedCommand[];
  /** As written, macros expanded. */
  readonly text: string;
}

/** `[ … ]`. Its result replaces it, as text (see `commands/format.ts`) or as rows. */
export interface Subsearch extends Span {
  readonly pipeline: Pipeline;
}

export type Comparator = "=" | "!=" | "<" | "<=" | ">" | ">=";

/** An expression of `eval`, `where`, `fieldformat` and of `eval(…)` in aggregates. */
export type Expression = Span &
  (
    | {
        readonly node: "number";
        readonly value: number /** As written: `0x1f`, `1.50`. */;
        readonly text: string;
      }
    | { readonly node: "string"; readonly value: string }
    /** A bare word, or one in single quotes. */
    | { readonly node: "field"; readonly name: string }
    /** @param name in lower case */
    | { readonly node: "call"; readonly name: string; readonly args: readonly Expression[] }
    | { readonly node: "unary"; readonly operator: "-" | "+" | "not"; readonly operand: Expression }
    | {
        readonly node: "binary";
        readonly operator: Comparator | "+" | "-" | "*" | "/" | "%" | "." | "like" | "and" | "or" | "xor";
        readonly left: Expression;
        readonly right: Expression;
      }
    /** `x IN (1, 2)`; with NOT it stands in a unary node. */
    | { readonly node: "in"; readonly operand: Expression; readonly values: readonly Expression[] }
    /** Its result is parsed as an expression. */
    | { readonly node: "subsearch"; readonly subsearch: Subsearch }
  );

/** A value of a search expression. */
export interface SearchValue {
  /** Without quotes, with `\"` and `\\` unescaped. `*` is a wildcard, quoted or not. */
  readonly text: string;
  readonly quoted: boolean;
}

/** An expression of `search`. */
export type SearchExpression =
  /** An empty expression: every row. */
  | { readonly node: "all" }
  | { readonly node: "and" | "or"; readonly operands: readonly SearchExpression[] }
  | { readonly node: "not"; readonly operand: SearchExpression }
  /** Searched in `_raw`. `CASE(x)`: case-sensitive; `TERM(x)`: one indexed term. */
  | { readonly node: "term"; readonly value: SearchValue; readonly mode: "plain" | "case" | "term" }
  /** `mode` is that of `field=CASE(x)`, `field=TERM(x)`. */
  | {
      readonly node: "comparison";
      readonly field: string;
      readonly comparator: Comparator;
      readonly value: SearchValue;
      readonly mode: "plain" | "case" | "term";
    }
  | { readonly node: "in"; readonly field: string; readonly values: readonly SearchValue[] }
  /** `earliest=-1h`, `_index_latest=now`, `starttimeu=…`: narrows the search's range wherever it stands. */
  | { readonly node: "time"; readonly modifier: string; readonly value: string }
  /** Its result, after `prefix` (`earliest=`), is parsed as a search expression. */
  | { readonly node: "subsearch"; readonly prefix: string; readonly subsearch: Subsearch };

/** An aggregate of `stats` and the like: `dc(user) AS users`. */
export interface AggregateCall {
  /** As written, in lower case: `c`, `p95`, `values`. */
  readonly name: string;
  /** `count` has none. A name may contain wildcards. `eval(…)` is an expression. */
  readonly argument:
    | { readonly kind: "none" }
    | { readonly kind: "field"; readonly name: string }
    | {
        readonly kind: "expression";
        readonly expression: Expression /** As written, for the default name. */;
        readonly text: string;
      }
    /** `sparkline(avg(x), 1h)`. */
    | { readonly kind: "sparkline"; readonly aggregate: AggregateCall; readonly span: string | undefined };
  /** Name of the result after `AS`, with the wildcards of the field; `undefined`: `text` is the name. */
  readonly as: string | undefined;
  /** As written, without `as`: the default name. */
  readonly text: string;
}

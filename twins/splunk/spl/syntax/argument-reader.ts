/** The reader that command definitions parse their arguments with. Invalid arguments throw a `SplError` naming the command. */
import type { Expression, SearchExpression, Span, Subsearch } from "./ast.ts";

/** A token of a command's arguments. Words are as long as possible: `a.b{}` and `-x` are one, `span=1h` is three. */
export type Token = Span &
  (
    | { readonly type: "word"; readonly text: string }
    /** A double-quoted string; `text` is without the quotes. */
    | { readonly type: "string"; readonly text: string }
    | { readonly type: "symbol"; readonly text: "(" | ")" | "," | "=" | "[" | "!=" | "<" | "<=" | ">" | ">=" }
    | { readonly type: "end"; readonly text: "" }
  );

/** Type of an option: parses its text. */
export interface OptionType<Value> {
  /** Name of the type, for the error message: `integer`. */
  readonly expected: string;
  /** @returns `undefined` for an invalid text */
  read(text: string): Value | undefined;
  /** The option may be repeated. */
  readonly repeats?: true;
  /** The command's own error message for an invalid text. Default: that of splunkd's option parser. */
  errorMessage?(name: string, text: string): string;
}

export type OptionTypes = Record<string, OptionType<unknown>>;
export type OptionValues<Types extends OptionTypes> = {
  [Name in keyof Types]?: Types[Name] extends OptionType<infer Value> ? Value : never;
};

export interface ArgumentReader {
  /** Name of the command, as in the vendor's reference. */
  readonly command: string;
  peek(ahead?: number): Token;
  next(): Token;
  /** Reads the symbol if it is next. */
  symbol(symbol: string): boolean;
  /** Reads one of these words if it is next and unquoted, ignoring case: `as`, `by`, `OUTPUT`. */
  keyword(...words: string[]): boolean;
  /** Reads one of these signs if it is next, with or without a blank after it: `- a`, `-a`. */
  sign<Sign extends string>(...signs: Sign[]): Sign | undefined;
  atEnd(): boolean;
  /** The current position. */
  offset(): number;
  /** Reads options, `name=value`, ignoring the case of names; stops before the first token that is none of them. */
  options<Types extends OptionTypes>(types: Types): OptionValues<Types>;
  /** Reads a field's name, quoted or not. @param what for the error message: `a field to count` */
  field(what?: string): string;
  /**
   * Reads names, separated by commas or blanks, up to the end, a symbol or a stop word. They may contain wildcards, which the
   * command expands (`wildcards.ts`) or rejects.
   */
  fields(stopWords?: readonly string[]): string[];
  /** Reads a word or a quoted string. */
  text(what: string): string;
  integer(what: string): number;
  number(what: string): number;
  /** Reads the longest eval expression that begins here. */
  expression(): Expression;
  /** Reads an expression of `search`, up to the end or a stop word (in lower case), such as `by` of `tstats`. */
  searchExpression(stopWords?: readonly string[]): SearchExpression;
  /** Reads a subsearch, `[ … ]`, if it is next. */
  subsearch(): Subsearch | undefined;
  /** Reads the text in `[ … ]` unparsed, if it is next: the template of `foreach` and `map`. */
  bracketed(): string | undefined;
  /** Reads the text in `( … )` unparsed, if it is next. */
  parenthesized(): string | undefined;
  /** Reads the rest unparsed. */
  rest(): string;
  /** The text between two offsets. */
  textOf(span: Span): string;
  /** Checks that nothing is left. */
  end(): void;
  /** @throws SplError `Error in '<command>' command: <message>` */
  fail(message: string): never;
}

/** What a command's definition reads its arguments with; whatever does not fit is a `SplError` naming the command. */
import type { Expression, SearchExpression, Span, Subsearch } from "./ast.ts";

/** A piece of a command's arguments. Words are as long as they can be: `a.b{}`, `-x`, `span=1h` is three. */
export type Token = Span &
  (
    | { readonly type: "word"; readonly text: string }
    /** In double quotes, which `text` is without. */
    | { readonly type: "string"; readonly text: string }
    | { readonly type: "symbol"; readonly text: "(" | ")" | "," | "=" | "[" | "!=" | "<" | "<=" | ">" | ">=" }
    | { readonly type: "end"; readonly text: "" }
  );

/** How the text of an option becomes its value. */
export interface OptionType<Value> {
  /** `an integer`, for the message when it is none. */
  readonly expected: string;
  /** `undefined` when the text is no such value. */
  read(text: string): Value | undefined;
  /** It may be given several times. */
  readonly repeats?: true;
  /** What the command says of any other text; by default splunkd's reader of options says so. */
  refusal?(name: string, text: string): string;
}

export type OptionTypes = Record<string, OptionType<unknown>>;
export type OptionValues<Types extends OptionTypes> = {
  [Name in keyof Types]?: Types[Name] extends OptionType<infer Value> ? Value : never;
};

export interface ArgumentReader {
  /** Of the command being read, as written in the reference. */
  readonly command: string;
  peek(ahead?: number): Token;
  next(): Token;
  /** Takes the symbol if it is next. */
  symbol(symbol: string): boolean;
  /** Takes the word if it is next and unquoted, whatever its case: `as`, `by`, `OUTPUT`. */
  keyword(...words: string[]): boolean;
  /** Takes one of these signs if it is next, with or without a blank behind it: `- a`, `-a`. */
  sign<Sign extends string>(...signs: Sign[]): Sign | undefined;
  atEnd(): boolean;
  /** Where reading has come to. */
  offset(): number;
  /** Reads as many `name=value` of these as stand here (names whatever their case); stops before what is none of them. */
  options<Types extends OptionTypes>(types: Types): OptionValues<Types>;
  /** A field's name, quoted or not. @param what for the message: `a field to count` */
  field(what?: string): string;
  /**
   * Names with commas or blanks between them, up to the end, a symbol or one of these keywords. They can have wildcards, which the
   * command expands (`wildcards.ts`) or refuses.
   */
  fields(stopWords?: readonly string[]): string[];
  /** One word or quoted text. */
  text(what: string): string;
  integer(what: string): number;
  number(what: string): number;
  /** The longest eval expression that begins here. */
  expression(): Expression;
  /** The rest as an expression of `search`; with stop words (in lower case) as far as one of them, as `by` of `tstats`. */
  searchExpression(stopWords?: readonly string[]): SearchExpression;
  /** What is in `[ … ]`, if that is next. */
  subsearch(): Subsearch | undefined;
  /** The same unread, as it was written: the template of `foreach` and `map`. */
  bracketed(): string | undefined;
  /** What is in `( … )`, as it was written, if that is next. */
  parenthesized(): string | undefined;
  /** The rest, as it was written. */
  rest(): string;
  /** Text between two offsets, as it was written. */
  textOf(span: Span): string;
  /** Nothing may be left. */
  end(): void;
  /** @throws SplError `Error in '<command>' command: <message>` */
  fail(message: string): never;
}

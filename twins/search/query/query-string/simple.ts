/**
 * The grammar of `simple_query_string`, which knows no mistakes: what is no operator where it stands is text.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-simple-query-string-query.html#simple-query-string-syntax
 */
import { tooManyClauses } from "../errors.ts";

/** `combined`: the clauses of one operator; operators have no precedence, each takes what was read before it as its first clause. */
export type SimpleExpression =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "phrase"; readonly text: string; readonly slop: number }
  | { readonly kind: "prefix"; readonly prefix: string }
  | { readonly kind: "fuzzy"; readonly text: string; readonly changes: number }
  | { readonly kind: "not"; readonly expression: SimpleExpression }
  | {
      readonly kind: "combined";
      readonly operator: "and" | "or";
      readonly clauses: readonly SimpleExpression[];
    };

/** Groups within groups, of which deeper ones are passed over; and how often operators may change in one. */
const MAX_DEPTH = 100;

export function parseSimpleQueryString(
  text: string,
  defaultOperator: "and" | "or",
  flags: ReadonlySet<string>,
): SimpleExpression | undefined {
  return new SimpleParser(text, defaultOperator, flags).group(0);
}

class SimpleParser {
  readonly #text: string;
  readonly #default: "and" | "or";
  readonly #flags: ReadonlySet<string>;
  #at = 0;

  constructor(text: string, defaultOperator: "and" | "or", flags: ReadonlySet<string>) {
    this.#text = text;
    this.#default = defaultOperator;
    this.#flags = flags;
  }

  /** Reads to the end of the group. */
  group(depth: number): SimpleExpression | undefined {
    let top: SimpleExpression | undefined;
    let last: "and" | "or" | undefined;
    let joined: SimpleExpression[] | undefined;
    let nested = 0;
    let operator: "and" | "or" | undefined;
    let negations = 0;
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? "";
      if (this.#is(")", "PRECEDENCE")) {
        this.#at++;
        if (depth > 0) return top;
        continue;
      }
      if (this.#is("+", "AND") || this.#is("|", "OR")) {
        this.#at++;
        if (operator === undefined && top !== undefined) operator = character === "+" ? "and" : "or";
        continue;
      }
      if (this.#is("-", "NOT")) {
        this.#at++;
        negations++;
        continue;
      }
      if (/\s/.test(character) && this.#flags.has("WHITESPACE")) {
        this.#at++;
        negations = 0;
        continue;
      }
      const found = this.#operand(depth);
      if (!found) continue;
      const expression: SimpleExpression = negations % 2 === 1 ? { kind: "not", expression: found } : found;
      const joining = operator ?? this.#default;
      if (top === undefined) top = expression;
      else if (joined && last === joining) joined.push(expression);
      else {
        if (++nested > MAX_DEPTH) throw tooManyClauses(MAX_DEPTH);
        joined = [top, expression];
        top = { kind: "combined", operator: joining, clauses: joined };
      }
      last = joined && joining;
      operator = undefined;
      negations = 0;
    }
    return top;
  }

  #operand(depth: number): SimpleExpression | undefined {
    if (this.#is("(", "PRECEDENCE")) {
      this.#at++;
      return depth < MAX_DEPTH ? this.group(depth + 1) : undefined;
    }
    if (this.#is('"', "PHRASE")) return this.#phrase();
    return this.#word();
  }

  #phrase(): SimpleExpression | undefined {
    const from = this.#at + 1;
    let end = from;
    while (end < this.#text.length && this.#text[end] !== '"') end += this.#text[end] === "\\" ? 2 : 1;
    if (end >= this.#text.length) {
      // Without its end, the quote is passed over.
      this.#at++;
      return undefined;
    }
    this.#at = end + 1;
    const text = this.#plain(this.#text.slice(from, end));
    return text === "" ? undefined : { kind: "phrase", text, slop: this.#number("NEAR") ?? 0 };
  }

  #word(): SimpleExpression | undefined {
    let word = "";
    while (this.#at < this.#text.length && !this.#endsWord()) {
      if (this.#text[this.#at] === "\\" && this.#flags.has("ESCAPE")) this.#at++;
      word += this.#text[this.#at++] ?? "";
      const rest = this.#text.slice(this.#at, this.#at + 1);
      if (rest === "*" && this.#flags.has("PREFIX") && this.#endsAfter(this.#at + 1)) {
        this.#at++;
        return { kind: "prefix", prefix: word };
      }
      if (rest === "~" && this.#flags.has("FUZZY")) {
        const before = this.#at;
        const changes = this.#number("FUZZY");
        if (changes !== undefined && this.#endsAfter(this.#at))
          return { kind: "fuzzy", text: word, changes: Math.min(2, changes) };
        this.#at = before;
      }
    }
    return word === "" ? undefined : { kind: "text", text: word };
  }

  /** `~2`; `~` alone is 2. */
  #number(flag: "FUZZY" | "NEAR"): number | undefined {
    if (!this.#flags.has(flag) && !(flag === "NEAR" && this.#flags.has("SLOP"))) return undefined;
    const found = /^~(\d{0,6})/.exec(this.#text.slice(this.#at, this.#at + 8));
    if (!found) return undefined;
    this.#at += found[0].length;
    return found[1] === "" ? 2 : Number(found[1]);
  }

  #endsWord(): boolean {
    const character = this.#text[this.#at] ?? "";
    return (
      (/\s/.test(character) && this.#flags.has("WHITESPACE")) ||
      this.#is('"', "PHRASE") ||
      this.#is("|", "OR") ||
      this.#is("+", "AND") ||
      this.#is("(", "PRECEDENCE") ||
      this.#is(")", "PRECEDENCE")
    );
  }

  #endsAfter(at: number): boolean {
    const here = this.#at;
    this.#at = at;
    const ends = at >= this.#text.length || this.#endsWord();
    this.#at = here;
    return ends;
  }

  #is(character: string, flag: string): boolean {
    return this.#text[this.#at] === character && this.#flags.has(flag);
  }

  #plain(text: string): string {
    return this.#flags.has("ESCAPE") ? text.replace(/\\([\s\S])/g, "$1") : text;
  }
}

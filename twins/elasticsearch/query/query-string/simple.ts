/**
 * The grammar of `simple_query_string`, which has no syntax errors: an operator out of place is text.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-simple-query-string-query.html#simple-query-string-syntax
 */
import { tooManyClauses } from "../errors.ts";

/** `combined`: the clauses of one operator. Operators have no precedence: each takes everything before it as its first clause. */
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

/** Depth of nested groups, beyond which groups are skipped, and the number of operator changes inside one. */
const MAX_DEPTH = 100;
/** Lucene's highest edit distance. */
const MAX_CHANGES = 2;

export function parseSimpleQueryString(
  text: string,
  defaultOperator: "and" | "or",
  flags: ReadonlySet<string>,
): SimpleExpression | undefined {
  return new SimpleParser(text, defaultOperator, flags, 0).whole();
}

/** A port of Lucene's `SimpleQueryParser`: the order of its steps decides what is ignored, and what a stray operator resets. */
class SimpleParser {
  readonly #text: string;
  readonly #default: "and" | "or";
  readonly #flags: ReadonlySet<string>;
  readonly #depth: number;
  #at = 0;
  #top: SimpleExpression | undefined;
  /** The clauses of `#top`, while the same operator can add more. */
  #clauses: SimpleExpression[] | undefined;
  #previous: "and" | "or" | undefined;
  #operator: "and" | "or" | undefined;
  #groups: ReadonlyMap<number, number> | undefined;
  #negations = 0;
  #changes = 0;

  constructor(text: string, defaultOperator: "and" | "or", flags: ReadonlySet<string>, depth: number) {
    this.#text = text;
    this.#default = defaultOperator;
    this.#flags = flags;
    this.#depth = depth;
  }

  whole(): SimpleExpression | undefined {
    while (this.#at < this.#text.length) {
      if (this.#is("-", "NOT")) {
        this.#negations++;
        this.#at++;
        continue;
      }
      if (this.#is("(", "PRECEDENCE")) this.#group();
      else if (this.#is(")", "PRECEDENCE") || this.#isSpace()) this.#at++;
      else if (this.#is('"', "PHRASE")) this.#phrase();
      else if (this.#is("+", "AND")) this.#joinBy("and");
      else if (this.#is("|", "OR")) this.#joinBy("or");
      else this.#word();
      // A sign applies only to the text directly behind it.
      this.#negations = 0;
    }
    return this.#top;
  }

  #joinBy(operator: "and" | "or"): void {
    if (this.#top !== undefined) this.#operator ??= operator;
    this.#at++;
  }

  /** Reads a group; a parenthesis that is not closed is skipped. */
  #group(): void {
    const start = ++this.#at;
    this.#groups ??= this.#findGroups();
    const end = this.#groups.get(start);
    if (end === undefined || this.#depth >= MAX_DEPTH) return;
    if (end === start) this.#operator = undefined;
    else {
      const inner = this.#text.slice(start, end);
      this.#add(new SimpleParser(inner, this.#default, this.#flags, this.#depth + 1).whole());
    }
    this.#at = end + 1;
  }

  /** The ends of groups by their starts, found in one pass: a text may consist of parentheses alone. */
  #findGroups(): ReadonlyMap<number, number> {
    const ends = new Map<number, number>();
    const open: number[] = [];
    for (let at = 0; at < this.#text.length; at++) {
      const character = this.#text[at];
      if (character === "\\" && this.#flags.has("ESCAPE")) at++;
      else if (character === "(") open.push(at + 1);
      else if (character === ")") {
        const start = open.pop();
        if (start !== undefined) ends.set(start, at);
      }
    }
    return ends;
  }

  /** Reads a phrase; a quote that is not closed is skipped. */
  #phrase(): void {
    const start = ++this.#at;
    let phrase = "";
    let at = start;
    for (; at < this.#text.length && this.#text[at] !== '"'; at++) {
      if (this.#text[at] === "\\" && this.#flags.has("ESCAPE") && ++at >= this.#text.length) break;
      phrase += this.#text[at] ?? "";
    }
    if (at >= this.#text.length) return;
    if (at === start) {
      this.#operator = undefined;
      this.#at = at + 1;
      return;
    }
    this.#at = at + 1;
    const hasSlop = this.#is("~", "NEAR") || this.#is("~", "SLOP");
    // A tilde at the end of the text is ignored.
    const slop = hasSlop && this.#at + 1 < this.#text.length ? this.#number() : 0;
    this.#add({ kind: "phrase", text: phrase, slop });
  }

  #word(): void {
    let word = "";
    let isPrefix = false;
    let isFuzzy = false;
    while (this.#at < this.#text.length && !this.#endsWord()) {
      if (this.#text[this.#at] === "\\" && this.#flags.has("ESCAPE")) {
        this.#at++;
        isPrefix = false;
      } else if (word !== "" && this.#is("~", "FUZZY")) {
        isFuzzy = true;
        break;
      } else isPrefix = word !== "" && this.#is("*", "PREFIX");
      word += this.#text[this.#at++] ?? "";
    }
    if (word === "") return;
    const changes = isFuzzy ? Math.min(MAX_CHANGES, this.#number()) : 0;
    if (changes > 0) this.#add({ kind: "fuzzy", text: word, changes });
    else if (isPrefix && !isFuzzy) this.#add({ kind: "prefix", prefix: word.slice(0, -1) });
    else this.#add({ kind: "text", text: word });
  }

  #add(found: SimpleExpression | undefined): void {
    if (!found) return;
    const expression: SimpleExpression =
      this.#negations % 2 === 1 ? { kind: "not", expression: found } : found;
    if (this.#top === undefined) this.#top = expression;
    else {
      const operator = this.#operator ?? this.#default;
      if (this.#clauses && this.#previous === operator) this.#clauses.push(expression);
      else {
        if (++this.#changes > MAX_DEPTH) throw tooManyClauses(MAX_DEPTH);
        this.#clauses = [this.#top, expression];
        this.#top = { kind: "combined", operator, clauses: this.#clauses };
      }
      this.#previous = operator;
    }
    this.#operator = undefined;
  }

  /** Reads `~3` to the end of the word; `~` alone means 2, anything other than a number 0. */
  #number(): number {
    const from = ++this.#at;
    while (this.#at < this.#text.length && !this.#endsWord()) this.#at++;
    const written = this.#text.slice(from, this.#at);
    if (written === "") return MAX_CHANGES;
    return /^\+?\d{1,9}$/.test(written) ? Number(written) : 0;
  }

  #endsWord(): boolean {
    return (
      this.#isSpace() ||
      this.#is('"', "PHRASE") ||
      this.#is("|", "OR") ||
      this.#is("+", "AND") ||
      this.#is("(", "PRECEDENCE") ||
      this.#is(")", "PRECEDENCE")
    );
  }

  #isSpace(): boolean {
    return /[ \t\n\r]/.test(this.#text[this.#at] ?? "") && this.#flags.has("WHITESPACE");
  }

  #is(character: string, flag: string): boolean {
    return this.#text[this.#at] === character && this.#flags.has(flag);
  }
}

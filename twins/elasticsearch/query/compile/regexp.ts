/**
 * Translates Lucene's regular expressions to RE2. They differ in escapes, `~`, `&`, `@`, `<1-9>`, `"…"`, and have no `^` or `$`.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/regexp-syntax.html
 */
import { illegalArgument } from "../../vendor/error.ts";
import { UnservedError } from "../errors.ts";

const MAX_DEPTH = 100;
const MAX_REPEATS = 1000;

export interface RegexpOptions {
  /** `ALL`, `NONE`, or names joined by `|`; absent or empty: `ALL`. */
  readonly flags?: string;
  readonly caseInsensitive?: boolean;
}

/** @throws VendorError for a syntax error, or an expression that RE2 cannot hold */
export function luceneToRe2(pattern: string, options: RegexpOptions = {}): string {
  const reader = new Reader(pattern, options);
  return reader.whole();
}

interface ClassMember {
  readonly source: string;
  /** The code point of a single character; absent for `\d` and the like. */
  readonly point: number | undefined;
}

class Reader {
  readonly #characters: readonly string[];
  readonly #flags: readonly string[];
  readonly #caseInsensitive: boolean;
  readonly #pattern: string;
  #at = 0;
  #depth = 0;

  constructor(pattern: string, { flags = "", caseInsensitive = false }: RegexpOptions) {
    this.#pattern = pattern;
    this.#characters = [...pattern];
    this.#flags = flags === "" ? ["ALL"] : flags.split("|");
    this.#caseInsensitive = caseInsensitive;
  }

  whole(): string {
    const source = this.#union();
    if (this.#at < this.#characters.length) throw this.#error("end-of-string expected");
    return source;
  }

  #union(): string {
    const alternatives = [this.#sequence()];
    while (this.#take("|")) alternatives.push(this.#sequence());
    return alternatives.length === 1 ? (alternatives[0] ?? "") : `(?:${alternatives.join("|")})`;
  }

  #sequence(): string {
    let source = "";
    while (this.#at < this.#characters.length && !["|", ")"].includes(this.#peek())) {
      if (this.#peek() === "&" && this.#has("INTERSECTION")) {
        throw new UnservedError(
          `[regexp] the operator [&] is not supported in [${this.#pattern}]: ask twice, in a bool`,
        );
      }
      source += this.#repetition();
    }
    return source;
  }

  #repetition(): string {
    let source = this.#single();
    for (;;) {
      if (this.#take("*")) source = `(?:${source})*`;
      else if (this.#take("+")) source = `(?:${source})+`;
      else if (this.#take("?")) source = `(?:${source})?`;
      else if (this.#peek() === "{") source = `(?:${source})${this.#count()}`;
      else return source;
    }
  }

  #count(): string {
    const end = this.#characters.indexOf("}", this.#at);
    const written = end < 0 ? "" : this.#characters.slice(this.#at + 1, end).join("");
    const found = /^(\d{1,6})(?:(,)(\d{0,6}))?$/.exec(written);
    if (!found) throw this.#error("integer expected");
    if (Number(found[1]) > MAX_REPEATS || Number(found[3] ?? 0) > MAX_REPEATS) {
      throw illegalArgument(
        `Determinizing automaton would require more than 10000 effort: [${this.#pattern}] repeats more than ${MAX_REPEATS} times`,
      );
    }
    this.#at = end + 1;
    return `{${written}}`;
  }

  #single(): string {
    const character = this.#peek();
    if (character === "~" && this.#has("COMPLEMENT")) {
      throw new UnservedError(
        `[regexp] the operator [~] is not supported in [${this.#pattern}]: use must_not`,
      );
    }
    if (character === "[") return this.#characterClass();
    this.#at++;
    switch (character) {
      case "(":
        return this.#group();
      case ".":
        return ".";
      case "@":
        return this.#has("ANYSTRING") ? ".*" : "@";
      case "#":
        return this.#has("EMPTY") ? "[^\\x{0}-\\x{10FFFF}]" : "#";
      case '"':
        return this.#quotedText();
      case "<":
        return this.#has("INTERVAL") ? this.#interval() : "<";
      case "\\":
        return this.#escape();
      case "*":
      case "+":
      case "?":
        throw this.#error(`unexpected [${character}]`);
      default:
        return literal(character);
    }
  }

  #group(): string {
    if (++this.#depth > MAX_DEPTH) throw this.#error("too many parentheses");
    if (this.#take(")")) {
      this.#depth--;
      return "(?:)";
    }
    const source = this.#union();
    if (!this.#take(")")) throw this.#error("expected ')'");
    this.#depth--;
    return `(?:${source})`;
  }

  #quotedText(): string {
    const end = this.#characters.indexOf('"', this.#at);
    if (end < 0) throw this.#error("expected '\"'");
    const text = this.#characters.slice(this.#at, end).map(literal).join("");
    this.#at = end + 1;
    return `(?:${text})`;
  }

  /** `<1-100>` as an alternation of its numbers, for small intervals only. */
  #interval(): string {
    const end = this.#characters.indexOf(">", this.#at);
    const found = /^(\d{1,6})-(\d{1,6})$/.exec(
      this.#characters.slice(this.#at, Math.max(end, this.#at)).join(""),
    );
    if (end < 0 || !found) throw this.#error("illegal interval");
    this.#at = end + 1;
    const [from, to] = [Number(found[1]), Number(found[2])].sort((a, b) => a - b);
    if (from === undefined || to === undefined || to - from > MAX_REPEATS) {
      throw new UnservedError(`[regexp] an interval of more than ${MAX_REPEATS} numbers is not supported`);
    }
    const width = found[1]?.length === found[2]?.length ? (found[1]?.length ?? 0) : 0;
    const numbers = Array.from({ length: to - from + 1 }, (_, index) =>
      String(from + index).padStart(width, "0"),
    );
    return `(?:${numbers.join("|")})`;
  }

  #escape(): string {
    const character = this.#characters[this.#at++];
    if (character === undefined) throw this.#error("unexpected end-of-string");
    return /[dDsSwW]/.test(character) ? `\\${character}` : literal(character);
  }

  #characterClass(): string {
    this.#at++;
    let source = this.#take("^") ? "[^" : "[";
    let empty = true;
    while (empty || this.#peek() !== "]") {
      source += this.#classItem();
      empty = false;
    }
    this.#at++;
    // In Lucene a range of characters stays case-sensitive even when the expression is not.
    return this.#caseInsensitive ? `(?-i:${source}])` : `${source}]`;
  }

  /** A character, a range of them, or a class such as `\d`. */
  #classItem(): string {
    const from = this.#classMember();
    if (this.#peek() !== "-" || this.#characters[this.#at + 1] === "]") return this.#inAnyCase(from);
    this.#at++;
    const to = this.#classMember();
    if (from.point === undefined || to.point === undefined) {
      return `${this.#inAnyCase(from)}\\-${this.#inAnyCase(to)}`;
    }
    if (from.point > to.point) {
      throw illegalArgument(`invalid range: from (${from.point}) cannot be > to (${to.point})`);
    }
    return `${from.source}-${to.source}`;
  }

  #inAnyCase({ source, point }: ClassMember): string {
    if (!this.#caseInsensitive || point === undefined || !/^[a-z]$/i.test(source)) return source;
    return source.toLowerCase() + source.toUpperCase();
  }

  #classMember(): ClassMember {
    const character = this.#characters[this.#at++];
    if (character === undefined) throw this.#error("expected ']'");
    if (character !== "\\") return { source: literal(character), point: character.codePointAt(0) };
    const escaped = this.#characters[this.#at++];
    if (escaped === undefined) throw this.#error("unexpected end-of-string");
    return /[dDsSwW]/.test(escaped)
      ? { source: `\\${escaped}`, point: undefined }
      : { source: literal(escaped), point: escaped.codePointAt(0) };
  }

  #has(flag: string): boolean {
    return this.#flags.includes("ALL") || this.#flags.includes(flag);
  }

  #peek(): string {
    return this.#characters[this.#at] ?? "";
  }

  #take(character: string): boolean {
    if (this.#characters[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #error(what: string) {
    return illegalArgument(`${what} at position ${this.#at}`);
  }
}

function literal(character: string): string {
  return /[\\^$.|?*+()[\]{}\-&~]/.test(character) ? `\\${character}` : character;
}

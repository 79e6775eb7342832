/**
 * Translates regular expressions of SPL (PCRE) to RE2, which DuckDB uses, and to JavaScript, which has lookaround and
 * backreferences. A pattern that RE2 cannot express has no RE2 text.
 */
import { memoize } from "@offhook/platform/base/memoize";
import {
  both,
  bracketLiteral,
  caseFlag,
  characterEscapes,
  classEscapes,
  end,
  escapedCode,
  escapesOutsideBrackets,
  joinPieces,
  jsOnly,
  literal,
  type Piece,
  posixClasses,
  start,
  wrapPiece,
} from "./pcre-pieces.ts";

export interface Pattern {
  readonly source: string;
  /** Names of the groups in order; `undefined` for an unnamed one. */
  readonly groups: readonly (string | undefined)[];
  /** The pattern for RE2, its groups in the same order without names; `undefined` if RE2 cannot express it. */
  readonly re2: string | undefined;
  /** The pattern for JavaScript, with groups named `g1`, `g2`, …. `undefined` only if `re2` is defined. */
  readonly js: RegExp | undefined;
}

/** An invalid or unsupported regular expression. */
export class InvalidPattern extends Error {
  /** @param reason in PCRE2's words where PCRE2 has the error */
  constructor(reason: string) {
    super(`Regex: ${reason}`);
    this.name = "InvalidPattern";
  }
}

const NOT_REPEATABLE = "quantifier does not follow a repeatable item";
const MAX_LENGTH = 20_000;
const MAX_DEPTH = 200;
const RE2_MAX_REPEAT = 1_000;

/** @throws InvalidPattern */
export const readPattern = memoize((source): Pattern => new PatternReader(source).read(), 1_000);

interface BracketItem {
  piece: Piece;
  kind: "class" | "character";
}

interface Flags {
  multiline: boolean;
  dotAll: boolean;
  extended: boolean;
}

class PatternReader {
  readonly #source: string;
  #at = 0;
  #depth = 0;
  #possessive = 0;
  #ignoreCase = false;
  #flags: Flags = { multiline: false, dotAll: false, extended: false };
  readonly #groups: (string | undefined)[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  read(): Pattern {
    if (this.#source.length > MAX_LENGTH) this.#fail("the expression is too long");
    const { re2, js } = this.#alternation();
    if (this.#at < this.#source.length) this.#fail("unmatched closing parenthesis");
    if (re2 === undefined && js === undefined) this.#fail("the expression is not supported here");
    const re2Flags = this.#ignoreCase && re2 !== undefined ? "(?i)" : "";
    return {
      source: this.#source,
      groups: this.#groups,
      re2: re2 === undefined ? undefined : re2Flags + re2,
      js: this.#compile(js),
    };
  }

  #compile(js: string | undefined): RegExp | undefined {
    if (js === undefined) return undefined;
    try {
      return new RegExp(js, this.#ignoreCase ? "gi" : "g");
    } catch (error) {
      const [said] = (error instanceof Error ? error.message : String(error)).split(": ").slice(-1);
      return this.#fail(`${said?.charAt(0).toLowerCase()}${said?.slice(1)}`);
    }
  }

  /** Reads up to the closing parenthesis or the end. */
  #alternation(): Piece {
    const flags = this.#flags;
    const branches = [this.#sequence()];
    while (this.#take("|")) branches.push(this.#sequence());
    this.#flags = flags;
    return joinPieces(branches, "|");
  }

  #sequence(): Piece {
    const pieces: Piece[] = [];
    while (this.#at < this.#source.length && !this.#sees("|") && !this.#sees(")")) {
      const atom = this.#atom();
      if (atom !== undefined) pieces.push(atom.bare ? atom : this.#quantify(atom));
    }
    return joinPieces(pieces, "");
  }

  #quantify(atom: Piece): Piece {
    let piece = atom;
    for (let count = 0; ; count++) {
      this.#skipExtended();
      const match = /^(?:[*+?]|\{(\d+)(?:,(\d*))?\})/.exec(this.#source.slice(this.#at, this.#at + 24));
      if (!match) return piece;
      const [quantifier, min = "0", max = "0"] = match;
      if (count > 0 && quantifier.length === 1) this.#fail(NOT_REPEATABLE);
      if (match[2] !== undefined && max !== "" && Number(min) > Number(max)) {
        this.#fail("numbers out of order in {} quantifier");
      }
      this.#at += quantifier.length;
      const large = Math.max(Number(min), Number(max)) > RE2_MAX_REPEAT;
      const repeat = (suffix: string): Piece => ({
        re2: piece.re2 === undefined || large ? undefined : `${piece.re2}${quantifier}${suffix}`,
        js: piece.js === undefined ? undefined : `${piece.js}${quantifier}${suffix}`,
      });
      if (this.#take("+")) piece = this.#atomic(repeat("").js);
      else piece = wrapPiece(repeat(this.#take("?") ? "?" : ""));
    }
  }

  /** An atomic group, as a lookahead followed by a backreference to it. */
  #atomic(js: string | undefined): Piece {
    if (js === undefined) this.#fail("(?i) within what looks around is not supported here");
    const name = `p${++this.#possessive}`;
    return jsOnly(`(?:(?=(?<${name}>${js}))\\k<${name}>)`);
  }

  #atom(): Piece | undefined {
    this.#skipExtended();
    const char = this.#source[this.#at];
    if (char === undefined || char === "|" || char === ")") return undefined;
    if (char === "(") return this.#group();
    if (char === "[") return this.#brackets();
    if (char === "\\") return this.#escape();
    const [whole] = this.#source.slice(this.#at, this.#at + 2).match(/^./su) ?? [char];
    this.#at += whole.length;
    if (whole === ".")
      return { re2: this.#flags.dotAll ? "(?s:.)" : ".", js: this.#flags.dotAll ? "[\\s\\S]" : "[^\\n]" };
    if (whole === "^")
      return this.#flags.multiline ? { re2: "(?m:^)", js: `(?:${start}|(?<=\\n))` } : { re2: "^", js: start };
    if (whole === "$")
      return this.#flags.multiline
        ? { re2: "(?m:$)", js: `(?:${end}|(?=\\n))` }
        : { re2: "$", js: `(?=\\n?${end})` };
    if (/[*+?]/.test(whole)) this.#fail(NOT_REPEATABLE);
    return literal(whole);
  }

  #group(): Piece | undefined {
    this.#at++;
    if (++this.#depth > MAX_DEPTH) this.#fail("too many parentheses in each other");
    const piece = this.#take("?") ? this.#specialGroup() : this.#capture(undefined);
    this.#depth--;
    return piece;
  }

  #capture(name: string | undefined): Piece {
    const index = this.#groups.push(name);
    const { re2, js } = this.#groupBody();
    return {
      re2: re2 === undefined ? undefined : `(${re2})`,
      js: js === undefined ? undefined : `(?<g${index}>${js})`,
    };
  }

  #groupBody(): Piece {
    const inner = this.#alternation();
    if (!this.#take(")")) this.#fail("missing closing parenthesis");
    return inner;
  }

  #specialGroup(): Piece | undefined {
    if (this.#take("#")) {
      const close = this.#source.indexOf(")", this.#at);
      if (close === -1) this.#fail("missing ) after comment");
      this.#at = close + 1;
      return undefined;
    }
    const named = this.#match(/P?<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)'/y);
    if (named) return this.#capture(this.#newName(named[1] ?? named[2] ?? ""));
    const around = this.#match(/<?[=!]/y);
    if (around) {
      const { js } = this.#groupBody();
      if (js === undefined) this.#fail("(?i) within what looks around is not supported here");
      return jsOnly(`(?${around[0]}${js})`);
    }
    if (this.#match(/P?<|'/y)) return this.#refuseName();
    if (this.#take(">")) return this.#atomic(this.#groupBody().js);
    const backward = this.#match(/P=([A-Za-z_]\w*)\)/y);
    if (backward) return this.#backReference(this.#groups.lastIndexOf(backward[1]) + 1);
    const first = /^(?:\(\?[imsx]+\))*\(\?$/.test(this.#source.slice(0, this.#at));
    const flags = this.#match(/([imsxUJn]*)(?:-([imsx]*))?([:)])/y);
    if (!flags) return this.#fail("unrecognized character after (?");
    const place = flags[3] === ":" ? "group" : first ? "start" : "within";
    return this.#inlineFlags(flags[1] ?? "", flags[2] ?? "", place);
  }

  #newName(name: string): string {
    if (this.#groups.includes(name))
      this.#fail("two named subpatterns have the same name (PCRE2_DUPNAMES not set)");
    return name;
  }

  /** Fails for an invalid name of a group, in PCRE2's words. */
  #refuseName(): never {
    const rest = this.#source.slice(this.#at);
    if (/^\d/.test(rest)) this.#fail("subpattern name must start with a non-digit");
    if (!/^\w/.test(rest)) this.#fail("subpattern name expected");
    return this.#fail("syntax error in subpattern name (missing terminator?)");
  }

  /**
   * Inline flags: `(?i)` holds up to the end of the group, `(?i:…)` for a group of its own. Only RE2 can ignore case in a part.
   * @param place whether the flags open a group, stand at the start of the pattern, or elsewhere
   */
  #inlineFlags(on: string, off: string, place: "group" | "start" | "within"): Piece | undefined {
    if (/[UJn]/.test(on)) this.#fail(`the option (?${on}) is not supported`);
    const isGlobal = place === "start";
    if (isGlobal && on.includes("i")) this.#ignoreCase = true;
    const part = isGlobal ? "" : caseFlag(on, off);
    const before = this.#flags;
    this.#flags = {
      multiline: on.includes("m") || (before.multiline && !off.includes("m")),
      dotAll: on.includes("s") || (before.dotAll && !off.includes("s")),
      extended: on.includes("x") || (before.extended && !off.includes("x")),
    };
    if (place !== "group") return part === "" ? undefined : { re2: `(?${part})`, js: undefined, bare: true };
    const inner = this.#groupBody();
    this.#flags = before;
    return part === "" ? wrapPiece(inner) : { re2: `(?${part}:${inner.re2})`, js: undefined };
  }

  #escape(): Piece {
    const quoted = this.#match(/\\Q([\s\S]*?)(?:\\E|$)/y);
    if (quoted) return joinPieces([...(quoted[1] ?? "")].map(literal), "");
    const number = this.#match(/\\([1-9]\d?)/y);
    if (number) return this.#backReference(Number(number[1]));
    const name = this.#match(/\\(?:k<(\w+)>|k\{(\w+)\}|k'(\w+)'|g\{?(\w+)\}?)/y);
    if (name) {
      const reference = name[1] ?? name[2] ?? name[3] ?? name[4] ?? "";
      return this.#backReference(
        /^\d+$/.test(reference) ? Number(reference) : this.#groups.lastIndexOf(reference) + 1,
      );
    }
    const character = this.#escapedCharacter();
    if (character !== undefined) return both(character);
    const [, letter = ""] = this.#match(/\\([\s\S])/y) ?? this.#fail("\\ at end of pattern");
    const found = classEscapes[letter] ?? escapesOutsideBrackets[letter];
    if (found) return found;
    if (/[A-Za-z0-9]/.test(letter)) this.#fail(`\\${letter} is not supported`);
    return literal(letter);
  }

  /** Reads `\n`, `\x41`, `\x{20ac}`, inside and outside of brackets. */
  #escapedCharacter(): string | undefined {
    const hex = this.#match(/\\x(?:\{([0-9A-Fa-f]{1,4})\}|([0-9A-Fa-f]{0,2}))/y);
    if (hex) return escapedCode(Number.parseInt(hex[1] ?? (hex[2] || "0"), 16));
    const octal = this.#match(/\\0([0-7]{0,2})/y);
    if (octal) return escapedCode(Number.parseInt(octal[1] || "0", 8));
    const simple = this.#match(/\\([nrtfae])/y);
    return simple ? characterEscapes[simple[1] ?? ""] : undefined;
  }

  #backReference(index: number): Piece {
    if (index < 1 || index > this.#groups.length) this.#fail("reference to a group that is not there");
    return jsOnly(`(?:\\k<g${index}>)`);
  }

  #brackets(): Piece {
    this.#at++;
    const negated = this.#take("^") ? "^" : "";
    const pieces: Piece[] = [];
    let previous: BracketItem["kind"] | undefined;
    for (let first = true; first || !this.#sees("]"); first = false) {
      if (this.#at >= this.#source.length) this.#fail("missing terminating ] for character class");
      const { piece, kind } = this.#bracketItem(previous);
      pieces.push(piece);
      previous = kind;
    }
    this.#at++;
    const { re2, js } = joinPieces(pieces, "");
    return { re2: re2 === undefined ? undefined : `[${negated}${re2}]`, js: `[${negated}${js}]` };
  }

  /** Reads an item in brackets. A hyphen next to a class is a literal. */
  #bracketItem(previous: BracketItem["kind"] | undefined): BracketItem {
    const posix = this.#match(/\[:(\^?)(\w+):\]/y);
    if (posix) {
      const characters = posixClasses[posix[2] ?? ""];
      if (characters === undefined || posix[1] === "^") this.#fail("unknown POSIX class name");
      return { piece: { re2: `[:${posix[2]}:]`, js: characters ?? "" }, kind: "class" };
    }
    const hyphen =
      this.#match(/-(?=\\[dDwWsShH]|\[:)/y) ?? (previous === "class" ? this.#match(/-(?!\])/y) : undefined);
    if (hyphen) return { piece: both("\\-"), kind: "class" };
    const escaped = this.#escapedCharacter();
    if (escaped !== undefined) return { piece: both(escaped), kind: "character" };
    const character = this.#match(/\\([\s\S])/y);
    if (!character) {
      const [whole = ""] = this.#match(/./suy) ?? [];
      return { piece: both(whole === "-" ? "-" : bracketLiteral(whole)), kind: "character" };
    }
    const letter = character[1] ?? "";
    const found = classEscapes[letter];
    if (found) return { piece: found, kind: "class" };
    if (letter === "h") return { piece: both(" \\t"), kind: "class" };
    if (letter === "b") return { piece: both("\\x08"), kind: "character" };
    if (/[A-Za-z1-9]/.test(letter)) this.#fail(`\\${letter} is not supported in a character class`);
    return { piece: both(bracketLiteral(letter)), kind: "character" };
  }

  #skipExtended(): void {
    if (this.#flags.extended) this.#match(/(?:\s|#[^\n]*(?:\n|$))+/y);
  }

  #sees(text: string): boolean {
    return this.#source.startsWith(text, this.#at);
  }

  #take(text: string): boolean {
    if (!this.#sees(text)) return false;
    this.#at += text.length;
    return true;
  }

  /** @param pattern sticky */
  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#source);
    if (!match) return undefined;
    this.#at += match[0].length;
    return match;
  }

  #fail(reason: string): never {
    throw new InvalidPattern(reason);
  }
}

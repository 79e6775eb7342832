/**
 * Regular expressions of Lucene, as RE2 reads them. Both match the whole value.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/regexp-syntax.html
 */
import { argumentError } from "./errors.ts";

const MAX_LENGTH = 1_000;

/** @throws VendorError for what RE2 has no equal of: complement `~`, intersection `&`, and numeric ranges `<1-10>`. */
export function luceneRegexp(pattern: string): string {
  if (pattern.length > MAX_LENGTH) {
    throw argumentError(
      `The length of regex [${pattern.length}] used in the request has exceeded the allowed maximum of [${MAX_LENGTH}]. This maximum can be set by changing the [index.max_regex_length] index level setting.`,
    );
  }
  let translated = "";
  let at = 0;
  while (at < pattern.length) {
    const [piece, length] = translate(pattern, at);
    translated += piece;
    at += length;
  }
  return translated;
}

function translate(pattern: string, at: number): [piece: string, length: number] {
  const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
  switch (character) {
    case "\\": {
      const next = pattern.codePointAt(at + 1);
      if (next === undefined)
        throw argumentError(`unexpected end-of-string in regular expression [${pattern}]`);
      const escaped = String.fromCodePoint(next);
      return [/[dDwWsS]/.test(escaped) ? `\\${escaped}` : literal(escaped), 1 + escaped.length];
    }
    case '"': {
      const end = pattern.indexOf('"', at + 1);
      if (end < 0) throw argumentError(`expected '"' in regular expression [${pattern}]`);
      return [[...pattern.slice(at + 1, end)].map(literal).join(""), end + 1 - at];
    }
    case "[":
      return characterClass(pattern, at);
    case "@":
      return [".*", 1];
    case "#":
      return ["[^\\x00-\\x{10FFFF}]", 1];
    case "~":
    case "&":
    case "<":
      throw argumentError(`[${character}] in the regular expression [${pattern}] is not supported`);
    case "^":
    case "$":
      return [`\\${character}`, 1];
    default:
      return [/[.?+*|(){}]/.test(character) ? character : literal(character), character.length];
  }
}

function literal(character: string): string {
  return /[\\^$.*+?()[\]{}|/-]/.test(character) ? `\\${character}` : character;
}

function characterClass(pattern: string, start: number): [piece: string, length: number] {
  let at = start + 1;
  let piece = "[";
  if (pattern[at] === "^") {
    piece += "^";
    at++;
  }
  for (let first = true; at < pattern.length; first = false) {
    const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    at += character.length;
    if (character === "]" && !first) return [`${piece}]`, at - start];
    if (character === "-") {
      piece += first || pattern[at] === "]" ? "\\-" : "-";
    } else if (character === "\\") {
      const escaped = String.fromCodePoint(pattern.codePointAt(at) ?? 0x5c);
      at += escaped.length;
      piece += /[dDwWsS]/.test(escaped) ? `\\${escaped}` : literal(escaped);
    } else piece += literal(character);
  }
  throw argumentError(`expected ']' at position ${pattern.length} in regular expression [${pattern}]`);
}

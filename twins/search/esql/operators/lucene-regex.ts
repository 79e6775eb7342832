/**
 * Lucene's regular expressions as RE2's.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/regexp-syntax.html
 */
import { parsingError, type Span, UnrecognisedEsql } from "../errors.ts";

/** @throws VendorError for an expression that is none; UnrecognisedEsql for complement and intersection. */
export function luceneRegex(pattern: string, at: Span): string {
  let out = "";
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index] ?? "";
    if (character === "\\") {
      const next = pattern[++index];
      if (next === undefined) throw parsingError(at, `Invalid regex [${pattern}]: unexpected end-of-string`);
      out += /[dDwWsS]/.test(next) ? `\\${next}` : quoteMeta(next);
    } else if (character === '"') {
      const end = pattern.indexOf('"', index + 1);
      if (end === -1)
        throw parsingError(at, `Invalid regex [${pattern}]: expected '"' at position ${pattern.length}`);
      out += quoteMeta(pattern.slice(index + 1, end));
      index = end;
    } else if (character === "[") {
      const end = classEnd(pattern, index, at);
      out += pattern
        .slice(index, end + 1)
        .replace(/\[(?=.)/gs, (found, offset: number) => (offset === 0 ? found : "\\["));
      index = end;
    } else if (character === "@") out += ".*";
    else if (character === "#") out += "[^\\x00-\\x{10FFFF}]";
    else if (character === "~" || character === "&")
      throw new UnrecognisedEsql(at, `[${character}] in a regular expression`);
    else if (character === "<") {
      const interval = /^<(\d{1,18})-(\d{1,18})>/.exec(pattern.slice(index));
      if (!interval)
        throw parsingError(at, `Invalid regex [${pattern}]: illegal identifier at position ${index}`);
      out += numbersBetween(interval[1] ?? "", interval[2] ?? "", at);
      index += interval[0].length - 1;
    } else out += /[\^$]/.test(character) ? `\\${character}` : character;
  }
  return out;
}

function classEnd(pattern: string, start: number, at: Span): number {
  let index = start + 1;
  if (pattern[index] === "^") index++;
  for (; index < pattern.length; index++) {
    if (pattern[index] === "\\") index++;
    else if (pattern[index] === "]") return index;
  }
  throw parsingError(at, `Invalid regex [${pattern}]: expected ']' at position ${pattern.length}`);
}

export function quoteMeta(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}

function numbersBetween(from: string, to: string, at: Span): string {
  const [low, high] = [Number(from), Number(to)].sort((a, b) => a - b) as [number, number];
  if (high - low > 10_000)
    throw new UnrecognisedEsql(at, `an interval of ${high - low} numbers in a regular expression`);
  const width = from.length === to.length ? from.length : 0;
  return `(?:${Array.from({ length: high - low + 1 }, (_, index) => String(low + index).padStart(width, "0")).join("|")})`;
}

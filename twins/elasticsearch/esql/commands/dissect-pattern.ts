/**
 * Translates DISSECT patterns to regular expressions.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-process-data-with-dissect-and-grok.html
 */
import { parsingError, type Span, UnrecognisedEsql } from "../errors.ts";
import { quoteMeta } from "../quote-meta.ts";

export interface DissectPattern {
  regex: string;
  /** Number of capture groups. */
  groups: number;
  /** Columns in the order of the pattern, each with the indices of its groups in append order. */
  keys: { name: string; parts: number[] }[];
}

const KEY = /%\{([^}]*)\}/g;
const MAX_KEYS = 200;

interface Part {
  place: number;
  order: number;
}

/** @throws VendorError for an invalid pattern */
export function readDissect(pattern: string, at: Span): DissectPattern {
  // No key can end after the last bracket, so matching there would waste time.
  const found = [...pattern.slice(0, pattern.lastIndexOf("}") + 1).matchAll(KEY)];
  if (found.length === 0) throw invalid(pattern, at);
  if (found.length > MAX_KEYS) throw new UnrecognisedEsql(at, `a DISSECT pattern of ${found.length} keys`);
  const keys = new Map<string, Part[]>();
  let regex = `(?s)^${quoteMeta(pattern.slice(0, found[0]?.index))}`;
  let groups = 0;
  for (const [index, match] of found.entries()) {
    const key = readKey(match[1] ?? "", pattern, at);
    const delimiter = pattern.slice(match.index + match[0].length, found[index + 1]?.index ?? pattern.length);
    const isLast = index === found.length - 1;
    if (delimiter === "" && !isLast) throw invalid(pattern, at);
    const value = isLast && delimiter === "" ? "(.*)" : "(.*?)";
    const literal = quoteMeta(delimiter);
    regex += value + (key.padded && delimiter !== "" ? `(?:${literal})+` : literal);
    if (isLast && delimiter === "") regex += "$";
    if (key.name !== undefined) addPart(keys, key.name, { place: groups, order: key.order ?? groups });
    groups++;
  }
  if (keys.size === 0) throw invalid(pattern, at);
  return {
    regex,
    groups,
    keys: [...keys].map(([name, parts]) => ({
      name,
      parts: parts.sort((a, b) => a.order - b.order).map(({ place }) => place),
    })),
  };
}

function addPart(keys: Map<string, Part[]>, name: string, part: Part): void {
  keys.set(name, [...(keys.get(name) ?? []), part]);
}

interface Key {
  /** Absent for a skipped key. */
  name: string | undefined;
  order: number | undefined;
  /** `->`: the delimiter may repeat. */
  padded: boolean;
}

function readKey(text: string, pattern: string, at: Span): Key {
  const padded = text.endsWith("->");
  const bare = padded ? text.slice(0, -2) : text;
  if (bare === "" || bare.startsWith("?")) return { name: undefined, order: undefined, padded };
  if (/^[*&]/.test(bare))
    throw parsingError(at, `Reference keys not supported in dissect patterns: [%{${text}}]`);
  if (!bare.startsWith("+")) return { name: bare, order: undefined, padded };
  const [, name = "", order] = /^\+([^/]+)(?:\/(\d{1,6}))?$/.exec(bare) ?? [];
  if (name === "") throw invalid(pattern, at);
  return { name, order: order === undefined ? undefined : Number(order), padded };
}

function invalid(pattern: string, at: Span): Error {
  return parsingError(at, `Invalid pattern for dissect: [${pattern}]`);
}

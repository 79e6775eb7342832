/**
 * Translates GROK patterns to regular expressions: `%{SYNTAX}`, `%{SYNTAX:field}`, `%{SYNTAX:field:type}`,
 * `(?<field>…)`.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-process-data-with-dissect-and-grok.html
 */
import { parsingError, type Span, UnrecognisedEsql } from "../errors.ts";
import { grokLibrary } from "./grok-library.ts";

const grokTypes = ["int", "long", "float", "double", "boolean"] as const;
export type GrokType = (typeof grokTypes)[number] | "keyword";

export interface GrokPattern {
  regex: string;
  /** Number of capture groups. */
  groups: number;
  /** Columns in alphabetical order, each with the indices of its groups. */
  fields: { name: string; type: GrokType; places: number[] }[];
  /** Indices of groups that take part in every match: an empty match of theirs is a value. */
  always: ReadonlySet<number>;
}

const REFERENCE =
  /%\{(\w+)(?::([\w.@[\]-]+))?(?::(\w+))?\}|\(\?<([A-Za-z_][\w.@-]*)>|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|(\((?!\?))|[\s\S]/g;
/** Bounds the expanded pattern, and the depth of its references. */
const MAX_LENGTH = 100_000;
const MAX_DEPTH = 50;

/** @throws VendorError for an invalid pattern */
export function readGrok(pattern: string, at: Span): GrokPattern {
  if (/\(\?(?:[=!>]|<[=!])|\\[1-9]|\\k<|[*+?}]\+/.test(pattern)) {
    throw new UnrecognisedEsql(at, "a regular expression that looks around, back, or possesses");
  }
  const fields = new Map<string, { name: string; type: GrokType; places: number[] }>();
  let groups = 0;
  const capture = (name: string, type: GrokType) => {
    const field = fields.get(name) ?? { name, type, places: [] };
    if (field.type !== type) {
      throw parsingError(
        at,
        `Invalid GROK pattern [${pattern}]: the attribute [${name}] is defined multiple times with different types`,
      );
    }
    fields.set(name, field);
    field.places.push(groups++);
  };
  const invalid = (reason: string) => parsingError(at, `Invalid pattern [${pattern}] for grok: ${reason}`);
  const expand = (text: string, depth: number): string => {
    if (depth > MAX_DEPTH) throw invalid(`Pattern references are nested too deeply`);
    let out = "";
    for (const [found, syntax, name, type, inline, open] of text.matchAll(REFERENCE)) {
      if (inline !== undefined) {
        capture(inline, "keyword");
        out += "(";
      } else if (syntax === undefined) out += open === undefined ? found : "(?:";
      else {
        const definition = Object.hasOwn(grokLibrary, syntax) ? grokLibrary[syntax] : undefined;
        if (definition === undefined)
          throw invalid(`Unable to find pattern [${syntax}] in Grok's pattern dictionary`);
        if (name !== undefined) capture(name, grokType(type));
        out += `${name === undefined ? "(?:" : "("}${expand(definition, depth + 1)})`;
      }
      if (out.length > MAX_LENGTH) throw invalid("The pattern is too long");
    }
    return out;
  };
  const regex = expand(pattern, 0);
  checkSyntax(regex, invalid);
  return {
    regex: `(?s)${regex}`,
    groups,
    fields: [...fields.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    always: groupsOfEveryMatch(regex),
  };
}

interface OpenGroup {
  /** Index of the group itself, if it captures. */
  own: number[];
  /** Indices of the groups inside that no quantifier can skip. */
  inner: number[];
  branches: boolean;
}

/** Escapes, classes, non-capturing groups, capturing groups, group ends with their quantifier, and alternatives. */
const STRUCTURE =
  /\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|(?<plain>\(\?[^:)]*[:)])|(?<capture>\()|(?<close>\)(?<optional>[?*]|\{0[,}])?)|(?<branch>\|)/g;

/** Indices of the capture groups that take part in every match. */
function groupsOfEveryMatch(regex: string): Set<number> {
  const root: OpenGroup = { own: [], inner: [], branches: false };
  const open = [root];
  let captures = 0;
  for (const { 0: found, groups = {} } of regex.matchAll(STRUCTURE)) {
    const current = open.at(-1) ?? root;
    if (groups.branch !== undefined) current.branches = true;
    if (groups.capture !== undefined) open.push({ own: [captures++], inner: [], branches: false });
    if (groups.plain !== undefined && found.endsWith(":")) open.push({ own: [], inner: [], branches: false });
    if (groups.close === undefined || open.length === 1) continue;
    open.pop();
    if (groups.optional === undefined) (open.at(-1) ?? root).inner.push(...placesOf(current));
  }
  return new Set(placesOf(root));
}

function placesOf({ own, inner, branches }: OpenGroup): number[] {
  return branches ? own : [...own, ...inner];
}

function grokType(type: string | undefined): GrokType {
  return grokTypes.find((known) => known === type) ?? "keyword";
}

function checkSyntax(regex: string, invalid: (reason: string) => Error): void {
  try {
    new RegExp(regex.replace(/\(\?[imsx]+(?:-[imsx]+)?:/g, "(?:").replace(/\(\?[imsx-]+\)/g, ""));
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : "invalid regular expression");
  }
}

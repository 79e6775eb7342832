/** Regular expressions on columns: with DuckDB's RE2 where it can express them, else in this process. */
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { defineProgramFunction, type TextColumn } from "@offhook/log-store/store/program-functions";
import { InvalidPattern, type Pattern, readPattern } from "./pcre.ts";
import { runWithTimeout } from "./run-regex.ts";

/** The last group that DuckDB's `regexp_extract` can return. */
const MAX_EXTRACTED_GROUP = 9;

/** A constant pattern, or a column of patterns. */
export type PatternSource = Pattern | Sql;

function isConstant(pattern: PatternSource): pattern is Pattern {
  return "groups" in pattern;
}

function patternText(pattern: PatternSource): Sql {
  return isConstant(pattern) ? sql`CAST(${pattern.source} AS VARCHAR)` : pattern;
}

const regexMatches = defineRegexFunction("spl.regex.matches", (js, text) => {
  return js.test(text) ? "1" : "0";
});

const regexReplace = defineRegexFunction("spl.regex.replace", (js, text, replacement) =>
  replaceAll(js, text, replacement),
);

const regexReplaceNth = defineRegexFunction("spl.regex.replace-nth", (js, text, replacement, nth) => {
  let count = 0;
  return text.replace(js, (...match) =>
    ++count === Number(nth) ? expandReplacement(replacement, match) : String(match[0]),
  );
});

const regexExtract = defineRegexFunction("spl.regex.extract", (js, text, max) => {
  const limit = Number(max) || Number.POSITIVE_INFINITY;
  const matches: (string | null)[][] = [];
  for (const match of text.matchAll(js)) {
    if (matches.length >= limit) break;
    matches.push(groupsOf(match));
  }
  return matches.length === 0 ? null : JSON.stringify(matches);
});

const regexOffsets = defineRegexFunction("spl.regex.offsets", (js, text, names) => {
  const match = new RegExp(js.source, `${js.flags}d`).exec(text);
  const groups = match?.indices?.groups ?? {};
  const places = names.split(",").flatMap((name, index) => {
    const place = groups[`g${index + 1}`];
    return name === "" || place === undefined || place[1] === place[0]
      ? []
      : [`${name}=${place[0]}-${place[1] - 1}`];
  });
  return places.length === 0 ? null : places.join("&");
});

/** Whether the pattern matches a part of the text. BOOLEAN. */
export function matchesSql(text: Sql, pattern: PatternSource): Sql {
  if (isConstant(pattern) && pattern.re2 !== undefined) {
    return sql`regexp_matches(${text}, CAST(${pattern.re2} AS VARCHAR))`;
  }
  return sql`(${regexMatches(text, patternText(pattern))} = '1')`;
}

/** Replaces every match. `\1` stands for the match of a group. */
export function replaceSql(
  text: Sql,
  pattern: PatternSource,
  replacement: Sql,
  constantReplacement?: string,
): Sql {
  if (isConstant(pattern) && pattern.re2 !== undefined && constantReplacement !== undefined) {
    const rewritten = re2Replacement(constantReplacement, pattern.groups.length);
    return sql`regexp_replace(${text}, CAST(${pattern.re2} AS VARCHAR), CAST(${rewritten} AS VARCHAR), 'g')`;
  }
  return regexReplace(text, patternText(pattern), replacement);
}

/** Replaces the first match. */
export function replaceFirstSql(text: Sql, pattern: Pattern, replacement: string): Sql {
  if (pattern.re2 === undefined) return replaceNthSql(text, pattern, replacement, 1);
  const rewritten = re2Replacement(replacement, pattern.groups.length);
  return sql`regexp_replace(${text}, CAST(${pattern.re2} AS VARCHAR), CAST(${rewritten} AS VARCHAR))`;
}

/** Replaces the nth match. */
export function replaceNthSql(text: Sql, pattern: Pattern, replacement: string, nth: number): Sql {
  return regexReplaceNth(
    text,
    patternText(pattern),
    sql`CAST(${replacement} AS VARCHAR)`,
    sql`CAST(${String(nth)} AS VARCHAR)`,
  );
}

/** The first match's group (from 1). VARCHAR; NULL or empty without a match. */
export function extractFirstSql(text: Sql, pattern: Pattern, group: number): Sql {
  const index = raw(String(group));
  if (pattern.re2 === undefined) {
    const matches = regexExtract(text, patternText(pattern), sql`'1'`);
    return sql`from_json(${matches}, '[["VARCHAR"]]')[1][${index}]`;
  }
  const re2 = sql`CAST(${pattern.re2} AS VARCHAR)`;
  if (group > MAX_EXTRACTED_GROUP) return sql`regexp_extract_all(${text}, ${re2}, ${index})[1]`;
  return sql`regexp_extract(${text}, ${re2}, ${index})`;
}

/** The group (from 1) of each match. LIST; NULL without a match. @param max matches; 0: all */
export function extractAllSql(text: Sql, pattern: Pattern, group: number, max: number): Sql {
  const limit = max === 0 ? raw("") : raw(`[1:${max}]`);
  if (pattern.re2 !== undefined) {
    return sql`regexp_extract_all(${text}, CAST(${pattern.re2} AS VARCHAR), ${raw(String(group))})${limit}`;
  }
  const matches = sql`from_json(${regexExtract(text, patternText(pattern), sql`CAST(${String(max)} AS VARCHAR)`)}, '[["VARCHAR"]]')`;
  return sql`list_transform(${matches}, lambda m: m[${raw(String(group))}])`;
}

/** Positions of the named groups in the first match, from 0, both ends included: `user=4-7&port=9-12`. VARCHAR. */
export function offsetsSql(text: Sql, pattern: Pattern): Sql {
  const names = pattern.groups.map((name) => name ?? "").join(",");
  return regexOffsets(text, patternText(pattern), sql`CAST(${names} AS VARCHAR)`);
}

/** Defines a function of a text, a pattern and further texts. NULL if one of them is. */
function defineRegexFunction(
  name: string,
  run: (js: RegExp, text: string, ...others: string[]) => string | null,
) {
  return defineProgramFunction(name, (columns, rows) => runWithTimeout(() => eachRow(columns, rows, run)));
}

function eachRow(
  [texts = [], patterns = [], ...others]: readonly TextColumn[],
  rows: number,
  run: (js: RegExp, text: string, ...others: string[]) => string | null,
): (string | null)[] {
  const results: (string | null)[] = [];
  let js: RegExp | undefined;
  let source: string | undefined;
  for (let row = 0; row < rows; row++) {
    const text = texts[row] ?? null;
    const pattern = patterns[row] ?? null;
    const given = others.flatMap((column) => column[row] ?? []);
    if (text === null || pattern === null || given.length < others.length) {
      results.push(null);
      continue;
    }
    // The pattern is almost always the same in every row.
    if (js === undefined || pattern !== source) js = compile(pattern);
    source = pattern;
    js.lastIndex = 0;
    results.push(run(js, text, ...given));
  }
  return results;
}

function compile(pattern: string): RegExp {
  const { js } = readPattern(pattern);
  if (js !== undefined) return js;
  throw new InvalidPattern("(?i) is supported here at the beginning of an expression alone");
}

function groupsOf(match: RegExpMatchArray): (string | null)[] {
  const { groups = {} } = match;
  return Object.keys(groups)
    .filter((name) => name.startsWith("g"))
    .map((name) => groups[name] ?? null);
}

function replaceAll(js: RegExp, text: string, replacement: string): string {
  return text.replace(js, (...match) => expandReplacement(replacement, match));
}

/** @param match arguments of a `String.replace` callback: the named groups are last */
function expandReplacement(replacement: string, match: readonly unknown[]): string {
  const last = match.at(-1);
  const groups = new Map<string, unknown>(
    typeof last === "object" && last !== null ? Object.entries(last) : [],
  );
  return replacement.replace(/\\(\d|\\)/g, (_, escaped: string) => {
    if (escaped === "\\") return "\\";
    return escaped === "0" ? String(match[0]) : String(groups.get(`g${escaped}`) ?? "");
  });
}

/** Translates a replacement to RE2, which requires a digit or a backslash after each backslash. */
function re2Replacement(replacement: string, groups: number): string {
  return replacement.replace(/\\(\d|\\)?/g, (written, escaped: string | undefined) => {
    if (escaped === undefined || escaped === "\\") return "\\\\";
    return Number(escaped) <= groups ? written : "";
  });
}

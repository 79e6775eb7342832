/** Values that fit a pattern: `wildcard`, `prefix`, `regexp`. Every value that fits scores the same. */

import { identifier, type Sql, sql } from "@offhook/log-store/sql";
import { illegalArgument, type VendorError } from "../../vendor/error.ts";
import { shardError } from "../errors.ts";
import { type Mark, prefixMark, wildcardMark } from "../mark.ts";
import type { PrefixQuery, RegexpQuery, WildcardQuery } from "../syntax/query.ts";
import { between, some } from "./column.ts";
import type { Compiler } from "./compiler.ts";
import { inField, inRows, type Matcher, nothing, uniform } from "./matcher.ts";
import { luceneToRe2 } from "./regexp.ts";
import { anyOfWords, rewriteOf, wordsThatMeet } from "./rewrite.ts";
import { normalized, type Target, targetOf, typeName } from "./target.ts";
import { matchesNothing } from "./unfit.ts";
import type { Words } from "./words.ts";

/** Whether a text fits. */
export type Condition = (text: Sql) => Sql;

/** `index.max_regex_length`, and as much of a wildcard: what an automaton can be made of. */
const MAX_PATTERN = 1000;

export function compileWildcard(compiler: Compiler, query: WildcardQuery, boost: number): Matcher {
  return wildcard(compiler, targetOf(compiler.context, query.field, "whole"), query, boost);
}

export function wildcard(
  compiler: Compiler,
  target: Target,
  { pattern, caseInsensitive, rewrite }: Pick<WildcardQuery, "pattern" | "caseInsensitive" | "rewrite">,
  boost: number,
): Matcher {
  return fitting(
    compiler,
    target,
    "wildcard",
    () => wildcardCondition(normalizedPattern(target, pattern), caseInsensitive),
    {
      what: pattern,
      rewrite,
      mark: () => wildcardMark(wildcardParts(normalizedPattern(target, pattern)), caseInsensitive),
    },
    boost,
  );
}

/** The characters of a pattern that stand for nothing are as they were. */
function normalizedPattern(target: Target, pattern: string): string {
  return target.kind === "keyword" ? normalized(target, pattern) : pattern;
}

export function compilePrefix(compiler: Compiler, query: PrefixQuery, boost: number): Matcher {
  return prefix(compiler, targetOf(compiler.context, query.field, "whole"), query, boost);
}

export function prefix(
  compiler: Compiler,
  target: Target,
  { prefix: start, caseInsensitive, rewrite }: Pick<PrefixQuery, "prefix" | "caseInsensitive" | "rewrite">,
  boost: number,
): Matcher {
  const begin = normalizedPattern(target, start);
  const condition = () => (caseInsensitive ? anyCasePrefix(begin) : prefixCondition(begin));
  const mark = () => prefixMark(begin, caseInsensitive);
  return fitting(compiler, target, "prefix", condition, { what: `${start}*`, rewrite, mark }, boost);
}

export function compileRegexp(compiler: Compiler, query: RegexpQuery, boost: number): Matcher {
  return regexp(compiler, targetOf(compiler.context, query.field, "whole"), query, boost);
}

export function regexp(
  compiler: Compiler,
  target: Target,
  {
    pattern,
    caseInsensitive,
    flags,
    rewrite,
  }: Pick<RegexpQuery, "pattern" | "caseInsensitive" | "flags" | "rewrite">,
  boost: number,
): Matcher {
  if (pattern.length > MAX_PATTERN) {
    throw shardError(
      `failed to create query: The length of regex [${pattern.length}] used in the Regexp Query request has exceeded the allowed maximum of [${MAX_PATTERN}]. This maximum can be set by changing the [index.max_regex_length] index level setting.`,
    );
  }
  if (target.kind === "missing") return nothing;
  const translated = luceneToRe2(normalizedPattern(target, pattern), { flags, caseInsensitive });
  const condition = () => regexpCondition(translated, caseInsensitive);
  return fitting(compiler, target, "regexp", condition, { what: `/${pattern}/`, rewrite }, boost);
}

function fitting(
  compiler: Compiler,
  target: Target,
  clause: string,
  conditionOf: () => Condition,
  { what, rewrite: written, mark }: { what: string; rewrite: string | undefined; mark?: () => Mark },
  boost: number,
): Matcher {
  compiler.count(1);
  if (mark && (target.kind === "words" || target.kind === "keyword")) compiler.mark(target.name, mark());
  const rewrite = rewriteOf(written);
  const described = `${target.name}:${what}`;
  if (target.kind === "meta" && target.name === "_id" && compiler.context.fidelity === "vendor") {
    throw noPatterns(clause, target);
  }
  switch (target.kind) {
    case "missing":
      return nothing;
    case "meta": {
      const column = sql`d.${identifier(target.name)}`;
      return uniform(conditionOf()(column), boost, described);
    }
    case "words": {
      const condition = conditionOf()(identifier("term"));
      if (rewrite && rewrite.weights !== "constant") {
        const words = wordsThatMeet(target, condition, rewrite);
        return anyOfWords(target, words, rewrite.weights, boost, described);
      }
      return wordsThat(target, condition, boost, described);
    }
    case "keyword": {
      const condition = conditionOf();
      const { ignoreAbove } = target;
      const kept = (value: Sql) =>
        ignoreAbove === undefined ? sql`` : sql` AND length(${value}) <= ${ignoreAbove}`;
      if (rewrite && rewrite.weights !== "constant") {
        const fits = condition(identifier("term"));
        const words = wordsThatMeet(target, sql`${fits}${kept(identifier("term"))}`, rewrite);
        return anyOfWords(target, words, rewrite.weights, boost, described);
      }
      return uniform(
        some(target.field, (value) => sql`(${condition(value)}${kept(value)})`),
        boost,
        described,
      );
    }
    default:
      return matchesNothing(compiler.context, () => {
        throw noPatterns(clause, target);
      });
  }
}

function noPatterns(clause: string, target: Exclude<Target, { kind: "missing" }>): VendorError {
  const fields = clause === "regexp" ? "keyword and text" : "keyword, text and wildcard";
  return shardError(
    `Can only use ${clause} queries on ${fields} fields - not on [${target.name}] which is of type [${typeName(target)}]`,
  );
}

/** Documents with a word in the field that meets a condition on `term`; each scores the boost. */
export function wordsThat(target: Words, condition: Sql, boost: number, described: string): Matcher {
  const rows = sql`SELECT _row FROM ${identifier(target.postings)} WHERE frequency > 0 AND ${condition}`;
  return inField({ target, boost, parts: [{ kind: "fitting", condition }], minimum: 1 }, () =>
    uniform(inRows(rows), boost, described),
  );
}

type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "any" }
  | { readonly kind: "one" };

/** The parts of a wildcard: texts, `*`, `?`. A backslash takes the next character as it is. */
export function wildcardParts(pattern: string): Part[] {
  const parts: Part[] = [];
  let text = "";
  const end = () => {
    if (text !== "") parts.push({ kind: "text", text });
    text = "";
  };
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    if (character === "\\" && index + 1 < characters.length) text += characters[++index] ?? "";
    else if (character === "*" || character === "?") {
      end();
      // Two stars are one.
      if (character === "?" || parts.at(-1)?.kind !== "any") {
        parts.push({ kind: character === "*" ? "any" : "one" });
      }
    } else text += character;
  }
  end();
  return parts;
}

export function wildcardCondition(pattern: string, caseInsensitive: boolean): Condition {
  const parts = wildcardParts(pattern);
  const shape = parts.map(({ kind }) => kind).join(" ");
  const [first] = parts.flatMap((part) => (part.kind === "text" ? [part.text] : []));
  if (!caseInsensitive) {
    if (shape === "any") return () => sql`true`;
    if (shape === "text") return (value) => sql`${value} = ${first ?? ""}`;
    if (shape === "text any") return prefixCondition(first ?? "");
    if (shape === "any text") return (value) => sql`suffix(${value}, ${first ?? ""})`;
    if (shape === "any text any") return (value) => sql`contains(${value}, ${first ?? ""})`;
  }
  if (pattern.length > MAX_PATTERN * 4) {
    throw illegalArgument(
      `Determinizing automaton would require more than 10000 effort: a wildcard of ${pattern.length} characters`,
    );
  }
  const source = parts
    .map((part) => (part.kind === "text" ? quoted(part.text) : part.kind === "any" ? ".*" : "."))
    .join("");
  const fits = regexpCondition(source, caseInsensitive);
  if (caseInsensitive || parts[0]?.kind !== "text" || first === undefined) return fits;
  const starts = prefixCondition(first);
  return (value) => sql`(${starts(value)} AND ${fits(value)})`;
}

/** A prefix as bounds, which sorted data is pruned by. */
export function prefixCondition(prefix: string): Condition {
  if (prefix === "") return () => sql`true`;
  const after = afterPrefix(prefix);
  return (value) =>
    between(value, [
      { operator: ">=", bound: sql`${prefix}` },
      ...(after === undefined ? [] : [{ operator: "<", bound: sql`${after}` }]),
    ]);
}

function anyCasePrefix(prefix: string): Condition {
  return (value) => sql`starts_with(lower(${value}), lower(${prefix}))`;
}

/** The first text after all that begin with a prefix, in the order of UTF-8; `undefined` when there is none. */
function afterPrefix(prefix: string): string | undefined {
  const characters = [...prefix];
  while (characters.length > 0) {
    const last = characters.pop()?.codePointAt(0) ?? 0;
    if (last === 0x10ffff) continue;
    // Surrogates are no characters.
    const next = last + 1 === 0xd800 ? 0xe000 : last + 1;
    return characters.join("") + String.fromCodePoint(next);
  }
  return undefined;
}

/** @param source for RE2; the whole text must fit, and a point is any character */
export function regexpCondition(source: string, caseInsensitive: boolean): Condition {
  const options = caseInsensitive ? "si" : "s";
  return (value) => sql`regexp_full_match(${value}, ${source}, ${options})`;
}

/** A text that stands for itself in RE2. */
export function quoted(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
}

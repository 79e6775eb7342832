/** `wildcard`, `prefix`, `regexp`: values that match a pattern. All matches score the same unless `rewrite` says otherwise. */

import { identifier, type Sql, sql } from "@offhook/log-store/sql";
import type { VendorError } from "../../vendor/error.ts";
import { shardError } from "../errors.ts";
import { type Mark, prefixMark, wildcardMark } from "../mark.ts";
import type { PrefixQuery, RegexpQuery, WildcardQuery } from "../syntax/query.ts";
import { some } from "./column.ts";
import type { Compiler } from "./compiler.ts";
import { inField, inRows, type Matcher, nothing, uniform } from "./matcher.ts";
import {
  type Condition,
  prefixCondition,
  regexpCondition,
  wildcardCondition,
  wildcardParts,
} from "./pattern-conditions.ts";
import { luceneToRe2 } from "./regexp.ts";
import { anyOfWords, matchingTerms, rewriteOf } from "./rewrite.ts";
import { normalize, type Target, targetOf, typeName, type WordsTarget } from "./target.ts";
import { ignoreUnfitInSpecification } from "./unfit.ts";

/** `index.max_regex_length` */
const MAX_REGEX_CHARS = 1000;

export function compileWildcard(compiler: Compiler, query: WildcardQuery, boost: number): Matcher {
  return wildcard(compiler, targetOf(compiler.context, query.field, "whole"), query, boost);
}

export function wildcard(
  compiler: Compiler,
  target: Target,
  { pattern, caseInsensitive, rewrite }: Pick<WildcardQuery, "pattern" | "caseInsensitive" | "rewrite">,
  boost: number,
): Matcher {
  return matchCondition(
    compiler,
    target,
    "wildcard",
    () => wildcardCondition(normalizedPattern(target, pattern), { caseInsensitive }),
    {
      what: pattern,
      rewrite,
      mark: () => wildcardMark(wildcardParts(normalizedPattern(target, pattern)), { caseInsensitive }),
    },
    boost,
  );
}

/** Applies the keyword's normalizer to a pattern; it leaves the operators alone. */
function normalizedPattern(target: Target, pattern: string): string {
  return target.kind === "keyword" ? normalize(target, pattern) : pattern;
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
  const condition = () => prefixCondition(begin, { caseInsensitive });
  const mark = () => prefixMark(begin, { caseInsensitive });
  return matchCondition(compiler, target, "prefix", condition, { what: `${start}*`, rewrite, mark }, boost);
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
  if (pattern.length > MAX_REGEX_CHARS) {
    throw shardError(
      `failed to create query: The length of regex [${pattern.length}] used in the Regexp Query request has exceeded the allowed maximum of [${MAX_REGEX_CHARS}]. This maximum can be set by changing the [index.max_regex_length] index level setting.`,
    );
  }
  if (target.kind === "missing") return nothing;
  const translated = luceneToRe2(normalizedPattern(target, pattern), { flags, caseInsensitive });
  const condition = () => regexpCondition(translated, { caseInsensitive });
  return matchCondition(compiler, target, "regexp", condition, { what: `/${pattern}/`, rewrite }, boost);
}

function matchCondition(
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
    throw unsupportedType(clause, target);
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
        const words = matchingTerms(target, condition, rewrite);
        return anyOfWords(target, words, rewrite.weights, boost, described);
      }
      return anyWordThat(target, condition, boost, described);
    }
    case "keyword": {
      const condition = conditionOf();
      const { ignoreAbove } = target;
      const kept = (value: Sql) =>
        ignoreAbove === undefined ? sql`` : sql` AND length(${value}) <= ${ignoreAbove}`;
      if (rewrite && rewrite.weights !== "constant") {
        const fits = condition(identifier("term"));
        const words = matchingTerms(target, sql`${fits}${kept(identifier("term"))}`, rewrite);
        return anyOfWords(target, words, rewrite.weights, boost, described);
      }
      return uniform(
        some(target.field, (value) => sql`(${condition(value)}${kept(value)})`),
        boost,
        described,
      );
    }
    default:
      return ignoreUnfitInSpecification(compiler.context, () => {
        throw unsupportedType(clause, target);
      });
  }
}

function unsupportedType(clause: string, target: Exclude<Target, { kind: "missing" }>): VendorError {
  const fields = clause === "regexp" ? "keyword and text" : "keyword, text and wildcard";
  return shardError(
    `Can only use ${clause} queries on ${fields} fields - not on [${target.name}] which is of type [${typeName(target)}]`,
  );
}

/** Matches documents with a word that meets a condition on `term`; each scores the boost. */
export function anyWordThat(target: WordsTarget, condition: Sql, boost: number, described: string): Matcher {
  const rows = sql`SELECT _row FROM ${identifier(target.postings)} WHERE frequency > 0 AND ${condition}`;
  return inField({ target, boost, parts: [{ kind: "condition", condition }], minimum: 1 }, () =>
    uniform(inRows(rows), boost, described),
  );
}

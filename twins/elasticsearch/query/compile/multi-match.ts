/** `multi_match`: a text searched in several fields. Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-multi-match-query.html */
import type { MatchType, MultiMatchQuery, MultiMatchType } from "../syntax/query.ts";
import { analyzerOf } from "./analyzers.ts";
import type { Compiler } from "./compiler.ts";
import { crossFields } from "./cross-fields.ts";
import { disMax } from "./dis-max.ts";
import { weightedFields } from "./field-names.ts";
import { type MultiField, matchField, matchNoWords } from "./match.ts";
import { type Matcher, nothing } from "./matcher.ts";
import { targetOf } from "./target.ts";

export function compileMultiMatch(compiler: Compiler, query: MultiMatchQuery, boost: number): Matcher {
  analyzerOf(query.options);
  const everywhere = query.fields.length === 0 || query.fields.some(({ pattern }) => pattern === "*");
  const fields = weightedFields(
    compiler.context,
    query.fields.length === 0 ? [{ pattern: "*", boost: 1 }] : query.fields,
  );
  const options = { ...query.options, lenient: query.options.lenient || everywhere };
  return multiField(compiler, { ...query, fields, options, boost }) ?? matchNoWords(query.options, boost);
}

const matchTypes: Record<Exclude<MultiMatchType, "cross_fields">, MatchType> = {
  best_fields: "boolean",
  most_fields: "boolean",
  phrase: "phrase",
  phrase_prefix: "phrase_prefix",
  bool_prefix: "bool_prefix",
};

/** @returns undefined when the text has no words in any of the fields */
export function multiField(compiler: Compiler, query: MultiField): Matcher | undefined {
  const { fields, type, text, options, boost } = query;
  if (fields.size === 0) return nothing;
  if (type === "cross_fields") return crossFields(compiler, query);
  const matchers = [...fields].map(([name, weight]) => {
    const target = targetOf(compiler.context, name, "words");
    return matchField(
      compiler,
      target,
      { type: matchTypes[type], text, options },
      Math.fround(boost * weight),
    );
  });
  const found = matchers.filter((matcher) => matcher !== undefined);
  return found.length === 0 ? undefined : disMax(found, tieBreakerOf(type, query.tieBreaker));
}

/** The share of the fields that are not the best. */
export function tieBreakerOf(type: MultiMatchType, written: number | undefined): number {
  return written ?? (type === "most_fields" || type === "bool_prefix" ? 1 : 0);
}

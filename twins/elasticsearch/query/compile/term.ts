/** `term`: one exact value. */
import { identifier, sql } from "@offhook/log-store/sql";
import { mappedType } from "../../indices/field-types.ts";
import { shardError } from "../errors.ts";
import type { Scalar, TermQuery } from "../syntax/query.ts";
import { addressTerm } from "./addresses.ts";
import { some } from "./column.ts";
import type { Compiler } from "./compiler.ts";
import { dateRange } from "./dates.ts";
import { keyword } from "./keyword.ts";
import { type Matcher, nothing, uniform } from "./matcher.ts";
import { numberTerm } from "./numbers.ts";
import { anyWordThat } from "./patterns.ts";
import { normalize, type Target, targetOf } from "./target.ts";
import { ignoreUnfitInSpecification } from "./unfit.ts";
import { booleanOf } from "./values.ts";
import { anyWords } from "./words.ts";

export function compileTerm(compiler: Compiler, query: TermQuery, boost: number): Matcher {
  compiler.count(1);
  const target = targetOf(compiler.context, query.field, "whole");
  return query.caseInsensitive
    ? matchAnyCase(compiler, target, String(query.value), boost)
    : matchValue(compiler, target, query.value, boost);
}

/** Matches documents whose field has this value; for analysed text, this exact word. */
export function matchValue(compiler: Compiler, target: Target, value: Scalar, boost: number): Matcher {
  const text = String(value);
  switch (target.kind) {
    case "missing":
      return nothing;
    case "meta":
      return uniform(sql`d.${identifier(target.name)} = ${text}`, boost, `${target.name}:${text}`);
    case "words":
      compiler.markWords(target.name, [text]);
      return anyWords(target, [{ term: text, boost }], 1);
    case "keyword":
      if (text.length > (target.ignoreAbove ?? text.length)) return nothing;
      compiler.markWords(target.name, [text]);
      return keyword(
        target.field,
        normalize(target, text),
        boost,
        `${target.name}:${text}`,
        compiler.context.termStatistics,
      );
    case "number":
      return ignoreUnfitInSpecification(compiler.context, () => numberTerm(target, value, boost));
    case "ip":
      return ignoreUnfitInSpecification(compiler.context, () => addressTerm(target, value, boost));
    case "date":
      return ignoreUnfitInSpecification(compiler.context, () => {
        const bound = { value, inclusive: true };
        return dateRange(compiler.context, target, { lower: bound, upper: bound }, boost);
      });
    case "boolean":
      return ignoreUnfitInSpecification(compiler.context, () =>
        keyword(
          target.field,
          booleanOf(value),
          boost,
          `${target.name}:${booleanOf(value) ? "T" : "F"}`,
          compiler.context.termStatistics,
        ),
      );
  }
}

function matchAnyCase(compiler: Compiler, target: Target, text: string, boost: number): Matcher {
  const what = `${target.name}:${text}`;
  switch (target.kind) {
    case "words":
      return anyWordThat(target, sql`lower(term) = lower(${text})`, boost, what);
    case "keyword":
      return uniform(
        some(target.field, (value) => sql`lower(${value}) = lower(${text})`),
        boost,
        what,
      );
    case "meta":
      return uniform(sql`lower(d.${identifier(target.name)}) = lower(${text})`, boost, what);
    case "boolean": {
      // As in the vendor, the document frequency does not count here.
      const { predicate } = matchValue(compiler, target, text, boost);
      return uniform(predicate, boost, what);
    }
    case "missing":
      return nothing;
    default:
      return ignoreUnfitInSpecification(compiler.context, () => {
        const type = mappedType(target.field);
        throw shardError(
          `[${target.name}] field which is of type [${type}], does not support case insensitive term queries`,
        );
      });
  }
}

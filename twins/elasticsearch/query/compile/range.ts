/** `range`, on fields of any type. */
import { isTimeName } from "@offhook/log-store/fields";
import { identifier, sql } from "@offhook/log-store/sql";
import { conversionError } from "../errors.ts";
import type { RangeQuery } from "../syntax/query.ts";
import { addressRange } from "./addresses.ts";
import { between, exists, some } from "./column.ts";
import type { Compiler } from "./compiler.ts";
import { dateRange, isLiteralMath } from "./dates.ts";
import { type Matcher, nothing, uniform } from "./matcher.ts";
import { numberRange, rangeText } from "./numbers.ts";
import { anyWordThat } from "./patterns.ts";
import { normalize, type Target, targetOf } from "./target.ts";
import { ignoreUnfitInSpecification } from "./unfit.ts";
import { booleanOf } from "./values.ts";

export function compileRange(compiler: Compiler, query: RangeQuery, boost: number): Matcher {
  compiler.count(1);
  return range(compiler, targetOf(compiler.context, query.field, "whole"), query, boost);
}

export function range(compiler: Compiler, target: Target, query: RangeQuery, boost: number): Matcher {
  const { context } = compiler;
  switch (target.kind) {
    case "missing":
      return nothing;
    case "date":
      return ignoreUnfitInSpecification(context, () => dateRange(context, target, query, boost));
    case "number":
      return ignoreUnfitInSpecification(context, () => numberRange(target, query, boost));
    case "ip":
      return ignoreUnfitInSpecification(context, () => addressRange(target, query, boost));
    case "boolean":
      return ignoreUnfitInSpecification(context, () => {
        const { lower, upper } = query;
        const bounds = {
          lower: lower && { ...lower, value: booleanOf(lower.value) ? 1n : 0n },
          upper: upper && { ...upper, value: booleanOf(upper.value) ? 1n : 0n },
        };
        return uniform(
          some(target.field, (value) => between(sql`CAST(${value} AS BIGINT)`, texts(bounds))),
          boost,
          `${target.name}:${rangeText(query)}`,
        );
      });
    case "meta":
      throw conversionError(
        `Field [${target.name}] of type [${target.name}] does not support range queries`,
        "illegal_argument_exception",
      );
    case "keyword":
    case "words":
      // Date math is literal text in a time field of texts, too.
      if (isTimeName(target.field.name) && isLiteralMath(context, query)) return nothing;
      return textRange(target, query, boost);
  }
}

/** Texts in the order of their UTF-8 bytes, as the vendor has them. */
function textRange(
  target: Extract<Target, { kind: "keyword" | "words" }>,
  query: RangeQuery,
  boost: number,
): Matcher {
  const described = `${target.name}:${rangeText(query)}`;
  const lower = query.lower && { ...query.lower, value: normalize(target, String(query.lower.value)) };
  const upper = query.upper && { ...query.upper, value: normalize(target, String(query.upper.value)) };
  const bounds = texts({ lower, upper });
  if (bounds.length === 0) return uniform(exists(target.field), boost, described);
  if (target.kind === "words") {
    return anyWordThat(target, between(identifier("term"), bounds), boost, described);
  }
  return uniform(
    some(target.field, (value) => between(value, bounds)),
    boost,
    described,
  );
}

function texts({
  lower,
  upper,
}: {
  lower: { value: string | bigint; inclusive: boolean } | undefined;
  upper: { value: string | bigint; inclusive: boolean } | undefined;
}) {
  return [
    ...(lower ? [{ operator: lower.inclusive ? ">=" : ">", bound: sql`${lower.value}` }] : []),
    ...(upper ? [{ operator: upper.inclusive ? "<=" : "<", bound: sql`${upper.value}` }] : []),
  ];
}

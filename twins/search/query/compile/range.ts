/** Ranges, of whatever a field holds. */
import { identifier, sql } from "../../../datasets/sql.ts";
import { shardError } from "../errors.ts";
import type { RangeQuery } from "../syntax/query.ts";
import { between, exists, some } from "./column.ts";
import type { Compiler } from "./compiler.ts";
import { dateRange } from "./dates.ts";
import { inRows, type Matcher, nothing, uniform } from "./matcher.ts";
import { numberRange, rangeText } from "./numbers.ts";
import { type Target, targetOf } from "./target.ts";
import { matchesNothing } from "./unfit.ts";
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
      return matchesNothing(context, () => dateRange(context, target, query, boost));
    case "number":
      return matchesNothing(context, () => numberRange(target, query, boost));
    case "boolean":
      return matchesNothing(context, () => {
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
      throw shardError(
        `failed to create query: Field [${target.name}] of type [${target.name}] does not support range queries`,
      );
    case "keyword":
    case "words":
      return uniform(textRange(target, query), boost, `${target.name}:${rangeText(query)}`);
  }
}

/** Texts in the order of their UTF-8 bytes, as the vendor has them. */
function textRange(target: Extract<Target, { kind: "keyword" | "words" }>, query: RangeQuery) {
  const lower = query.lower && { ...query.lower, value: String(query.lower.value) };
  const upper = query.upper && { ...query.upper, value: String(query.upper.value) };
  const bounds = texts({ lower, upper });
  if (bounds.length === 0) return exists(target.field);
  if (target.kind === "keyword") return some(target.field, (value) => between(value, bounds));
  return inRows(
    sql`SELECT _row FROM ${identifier(target.postings)} WHERE frequency > 0 AND ${between(identifier("term"), bounds)}`,
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

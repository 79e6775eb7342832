/** `field_value_factor`: a score from a numeric field. */
import { fieldValue } from "@offhook/log-store/fields";
import { raw, type Sql, sql } from "@offhook/log-store/sql";
import { doubleText } from "../../json/numbers.ts";
import { illegalArgument } from "../../vendor/error.ts";
import type { QueryContext } from "../compiled-query.ts";
import { ShardError, shardError } from "../errors.ts";
import type { ScoreFunction } from "../syntax/query.ts";
import { type Matcher, matchingRows, TRUE } from "./matcher.ts";
import { targetOf } from "./target.ts";

type FieldValueFactor = Extract<ScoreFunction, { kind: "field_value" }>;

export interface FieldValue {
  readonly modifier: string;
  /** The field's value. */
  readonly source: Sql;
  /** The factor; 0 where the modifier is undefined. */
  readonly value: Sql;
  /** The modifier's result, which may be negative; NULL where it is undefined. */
  readonly result: Sql;
}

export function fieldValueOf(context: QueryContext, written: FieldValueFactor): FieldValue {
  const { modifier, factor } = written;
  const source = sourceOf(context, written);
  // The vendor holds the factor in single precision.
  const result = applyModifier(sql`(${source} * CAST(CAST(${factor} AS FLOAT) AS DOUBLE))`, modifier);
  const value = sql`(CASE WHEN isfinite(${result}) THEN ${result} ELSE 0 END)`;
  return { modifier, source, value, result };
}

function sourceOf(context: QueryContext, { field, missing }: FieldValueFactor): Sql {
  const target = targetOf(context, field, "whole");
  if (target.kind === "missing" && missing !== undefined) return sql`CAST(${missing} AS DOUBLE)`;
  if (target.kind !== "number") {
    throw target.kind === "missing"
      ? shardError(
          `failed to create query: Unable to find a field mapper for field [${field}]. No 'missing' value defined.`,
        )
      : illegalArgument(`[field_value_factor] field [${field}] is no number`);
  }
  const column = fieldValue(target.field);
  const first = target.field.multi ? sql`list_min(${column})` : column;
  return sql`coalesce(CAST(${first} AS DOUBLE), CAST(${missing ?? 1} AS DOUBLE))`;
}

function applyModifier(value: Sql, modifier: string): Sql {
  switch (modifier) {
    case "log":
    case "log1p":
    case "log2p":
      return logarithm(raw("log10"), value, modifier);
    case "ln":
    case "ln1p":
    case "ln2p":
      return logarithm(raw("ln"), value, modifier);
    case "square":
      return sql`power(${value}, 2)`;
    case "sqrt":
      return sql`CASE WHEN ${value} >= 0 THEN sqrt(${value}) END`;
    case "reciprocal":
      return sql`(1.0 / nullif(${value}, 0))`;
    default:
      return value;
  }
}

function logarithm(of: Sql, value: Sql, modifier: string): Sql {
  const added = modifier.endsWith("1p") ? 1 : modifier.endsWith("2p") ? 2 : 0;
  const argument = sql`(${value} + ${added})`;
  return sql`CASE WHEN ${argument} > 0 THEN ${of}(${argument}) WHEN ${argument} = 0 THEN '-Infinity'::DOUBLE END`;
}

/**
 * Refuses a function that is negative for some document, as the vendor does while scoring. Reports the first such document.
 * @param scored `matcher`: the function's query; `found`: the predicate of the whole query, which limits the scored documents
 * @throws ShardError once the term statistics are known
 */
export function refuseNegative(
  { termStatistics, fidelity }: QueryContext,
  scored: { matcher: Matcher; found: Sql },
  functions: readonly { readonly filter: Sql; readonly fieldValue?: FieldValue }[],
): void {
  if (fidelity === "specification" || termStatistics === undefined) return;
  const { matcher } = scored;
  const rows = scored.found === matcher.predicate ? TRUE : scored.found;
  const found = functions.flatMap(({ filter, fieldValue: of }) => {
    if (!of) return [];
    const negative =
      termStatistics(sql`SELECT count(*), coalesce(min(_row), 0), coalesce(arg_min(source, _row), 0), coalesce(arg_min(result, _row), 0)
      FROM (SELECT d._row, ${of.source} AS source, ${of.result} AS result
            FROM (${matchingRows(matcher)}) AS q JOIN documents AS d ON d._row = q._row WHERE ${filter} AND ${rows}) WHERE result < 0`);
    const [count = 0, row = 0, source = 0, result = 0] = negative ?? [];
    return count > 0 ? [{ row, source, result, modifier: of.modifier }] : [];
  });
  const [first] = found.sort((a, b) => a.row - b.row);
  if (!first) return;
  const { modifier, source, result } = first;
  const advice = /^(ln|log)$/.test(modifier)
    ? `; consider using ${modifier}1p or ${modifier}2p instead of ${modifier} to avoid negative scores`
    : "";
  throw new ShardError({
    type: "illegal_argument_exception",
    reason: `field value function must not produce negative scores, but got: [${formatNumber(result)}] for field value: [${formatNumber(source)}]${advice}`,
  });
}

function formatNumber(value: number): string {
  return Number.isFinite(value) ? doubleText(value) : String(value);
}

/** `function_score`: scores computed from values of the document. */
import { fieldValue } from "@offhook/log-store/fields";
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { uuidOf } from "../../vendor/node.ts";
import type { QueryContext } from "../compiled-query.ts";
import { shardError } from "../errors.ts";
import { explanation } from "../score/explain.ts";
import type { FunctionScoreQuery, ScoreFunction } from "../syntax/query.ts";
import type { Compiler } from "./compiler.ts";
import { decaySql } from "./decay.ts";
import { type FieldValue, fieldValueOf, refuseNegative } from "./field-value.ts";
import { allOf, FALSE, inRows, type Matcher, not, scoredRows, TRUE } from "./matcher.ts";
import { targetOf } from "./target.ts";

export function compileFunctionScore(compiler: Compiler, query: FunctionScoreQuery, boost: number): Matcher {
  compiler.count(1 + query.functions.length);
  const functions = query.functions.map((weighted) => ({
    ...functionOf(compiler, weighted.function),
    filter: compiler.compileUnmarked(weighted.filter, 1).predicate,
    weight: weighted.weight ?? 1,
  }));
  const inner = compiler.compile(query.query, boost);
  if (inner.predicate === FALSE) return inner;
  // As in the vendor, `boost_mode` has no effect without a function.
  const boostMode = functions.length === 0 ? "multiply" : query.boostMode;
  const factor = factorOf(query, functions);
  const capped = sql`least(${factor}, CAST(${query.maxBoost ?? 3.4028234663852886e38} AS DOUBLE))`;
  // The boost belongs to the inner query: it does not multiply the functions.
  const score = sql`CAST(${applyBoostMode(boostMode, capped)} AS FLOAT)`;
  const scored = sql`SELECT d._row, ${score} AS score FROM (${scoredRows(inner)}) AS q JOIN documents AS d ON d._row = q._row`;
  const minScore = compiler.minimumOf(query);
  const usesFieldValues = functions.some(({ fieldValue }) => fieldValue !== undefined);
  if (usesFieldValues && (compiler.scores || minScore !== undefined)) {
    const negativeCandidates = query.scoreMode === "first" ? firstMatchOnly(functions) : functions;
    compiler.addCheck((found) =>
      refuseNegative(compiler.context, { matcher: inner, found }, negativeCandidates),
    );
  }
  const rows =
    minScore === undefined ? scored : sql`SELECT _row, score FROM (${scored}) WHERE score >= ${minScore}`;
  return {
    predicate: minScore === undefined ? inner.predicate : inRows(sql`SELECT _row FROM (${rows})`),
    score: { kind: "ranked", rows: sql`(${rows})` },
    async explain(ask, row) {
      const [found] = await ask(sql`SELECT score FROM (${rows}) WHERE _row = ${row}`);
      const details = [await inner.explain(ask, row)];
      return explanation(Number(found?.[0] ?? 0), `function score, boost_mode [${boostMode}]`, details);
    },
  };
}

interface Function {
  readonly filter: Sql;
  readonly value: Sql;
  readonly weight: number;
  readonly fieldValue?: FieldValue;
}

/** Restricts each function to documents that no earlier filter matches. */
function firstMatchOnly(functions: readonly Function[]): Function[] {
  return functions.map((one, place) => ({
    ...one,
    filter: allOf([one.filter, ...functions.slice(0, place).map(({ filter }) => not(filter))]),
  }));
}

/** The factor of the score. As in the vendor, `score_mode` does not apply to a single function without a filter. */
function factorOf({ scoreMode }: FunctionScoreQuery, functions: readonly Function[]): Sql {
  const [first, ...others] = functions;
  if (!first) return raw("1.0::DOUBLE");
  return others.length === 0 && first.filter === TRUE
    ? weightedValue(first)
    : combineValues(scoreMode, functions);
}

function weightedValue({ value, weight }: Function): Sql {
  return sql`CAST(${value} * CAST(${weight} AS DOUBLE) AS DOUBLE)`;
}

/** Combines the functions whose filters match; 1 when none does. */
function combineValues(mode: FunctionScoreQuery["scoreMode"], functions: readonly Function[]): Sql {
  const values = functions.map((one) => {
    const { filter } = one;
    const weighted = weightedValue(one);
    return filter === TRUE ? weighted : sql`CASE WHEN ${filter} THEN ${weighted} END`;
  });
  const all = joined(values, ", ");
  if (mode === "first") return sql`coalesce(${all}, 1)`;
  const list = sql`list_filter([${all}], lambda v: v IS NOT NULL)`;
  switch (mode) {
    case "multiply":
      return sql`coalesce(list_product(${list}), 1)`;
    case "sum":
      return sql`coalesce(list_sum(${list}), 1)`;
    case "max":
      return sql`coalesce(list_max(${list}), 1)`;
    case "min":
      return sql`coalesce(list_min(${list}), 1)`;
    case "avg": {
      // A weighted average: divides by the weights of the matching functions.
      const weights = joined(
        functions.map(
          ({ filter, weight }) => sql`CASE WHEN ${filter} THEN CAST(${weight} AS DOUBLE) ELSE 0 END`,
        ),
        " + ",
      );
      return sql`coalesce(list_sum(${list}) / nullif(${weights}, 0), 1)`;
    }
  }
}

function applyBoostMode(mode: FunctionScoreQuery["boostMode"], factor: Sql): Sql {
  const score = raw("CAST(q.score AS DOUBLE)");
  switch (mode) {
    case "multiply":
      return sql`(${score} * ${factor})`;
    case "replace":
      return factor;
    case "sum":
      return sql`(${score} + ${factor})`;
    case "avg":
      return sql`((${score} + ${factor}) / 2)`;
    case "max":
      return sql`greatest(${score}, ${factor})`;
    case "min":
      return sql`least(${score}, ${factor})`;
  }
}

function functionOf(compiler: Compiler, written: ScoreFunction): Pick<Function, "value" | "fieldValue"> {
  switch (written.kind) {
    case "weight":
      return { value: raw("1.0::DOUBLE") };
    case "random":
      return { value: randomSql(compiler, written) };
    case "field_value": {
      const fieldValue = fieldValueOf(compiler.context, written);
      return { value: fieldValue.value, fieldValue };
    }
    case "decay":
      return { value: decaySql(compiler.context, written) };
  }
}

/**
 * Random numbers from 0 up to 1. With a seed, documents with equal values of the field (or with none) get the same number on every
 * call; without one, every moment gives a document another number, whatever the field.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/query-dsl-function-score-query.html#function-random
 */
function randomSql(compiler: Compiler, { seed, field }: Extract<ScoreFunction, { kind: "random" }>): Sql {
  const { context } = compiler;
  const value = seed === undefined ? raw("d._row") : randomSource(context, field ?? "_id");
  const salt = String(seed ?? context.nowMs);
  return sql`(CAST(hash(${value}, ${salt}) % 16777216 AS DOUBLE) / 16777216)`;
}

function randomSource(context: QueryContext, field: string): Sql {
  if (field === "_seq_no") return raw("d._seq_no");
  const target = targetOf(context, field, "whole");
  if (target.kind === "missing") {
    const index = `[[${context.index}/${uuidOf(context.index)}]]`;
    throw shardError(
      `failed to create query: Field [${field}] is not mapped on ${index} and cannot be used as a source of random numbers.`,
    );
  }
  if (target.kind === "meta") return sql`d.${raw(target.name)}`;
  const column = fieldValue(target.field);
  return target.field.multi ? sql`list_min(${column})` : column;
}

/** `function_score`: scores that depend on values of the document. */
import { fieldValue } from "@offhook/log-store/fields";
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import { uuidOf } from "../../vendor/node.ts";
import type { QueryContext } from "../compiled-query.ts";
import { shardError } from "../errors.ts";
import type { FunctionScoreQuery, ScoreFunction } from "../syntax/query.ts";
import type { Compiler } from "./compiler.ts";
import { decaySql } from "./decay.ts";
import { type FieldValue, fieldValueOf, refuseNegative } from "./field-value.ts";
import { allOf, explanation, FALSE, inRows, type Matcher, not, rowsOf, TRUE } from "./matcher.ts";
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
  // Without a function, nothing says how it is combined.
  const boostMode = functions.length === 0 ? "multiply" : query.boostMode;
  const factor = factorOf(query, functions);
  const limited = sql`least(${factor}, CAST(${query.maxBoost ?? 3.4028234663852886e38} AS DOUBLE))`;
  // The boost is the inner query's: what the functions give is not multiplied by it.
  const score = sql`CAST(${boosted(boostMode, limited)} AS FLOAT)`;
  const scored = sql`SELECT d._row, ${score} AS score FROM (${rowsOf(inner)}) AS q JOIN documents AS d ON d._row = q._row`;
  const minScore = compiler.minimumOf(query);
  const reckonsFields = functions.some(({ fieldValue }) => fieldValue !== undefined);
  if (reckonsFields && (compiler.scores || minScore !== undefined)) {
    const reckoned = query.scoreMode === "first" ? firstOf(functions) : functions;
    compiler.whenFound((found) => refuseNegative(compiler.context, { matcher: inner, found }, reckoned));
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

/** Each for the documents that none before it is for. */
function firstOf(functions: readonly Function[]): Function[] {
  return functions.map((one, place) => ({
    ...one,
    filter: allOf([one.filter, ...functions.slice(0, place).map(({ filter }) => not(filter))]),
  }));
}

/** What the score is combined with. The vendor has nothing to combine of one function that is for all documents. */
function factorOf({ scoreMode }: FunctionScoreQuery, functions: readonly Function[]): Sql {
  const [first, ...others] = functions;
  if (!first) return raw("1.0::DOUBLE");
  return others.length === 0 && first.filter === TRUE ? weightedValue(first) : combined(scoreMode, functions);
}

function weightedValue({ value, weight }: Function): Sql {
  return sql`CAST(${value} * CAST(${weight} AS DOUBLE) AS DOUBLE)`;
}

/** What the functions whose filters match give together; 1 when none does. */
function combined(mode: FunctionScoreQuery["scoreMode"], functions: readonly Function[]): Sql {
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
      // The weights of the functions that match divide their sum.
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

function boosted(mode: FunctionScoreQuery["boostMode"], factor: Sql): Sql {
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
 * From 0 up to 1. With a seed the same for the same value of the field, and for all documents that have none; without one a document
 * has another number at another time, whatever the field.
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

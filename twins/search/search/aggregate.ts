/** The aggregations of a search: those that the compiler knows as one statement, others by the model, each by itself. */
import { joined, type Sql, sql } from "../../datasets/sql.ts";
import { UncheckedSql } from "../../datasets/translator/checked-select.ts";
import { getOrAdd } from "../../sandbox/get-or-add.ts";
import type { AggregationPlan } from "../aggregations/aggregations.ts";
import type { HitsPlan } from "../aggregations/context.ts";
import { MAX_BUCKETS, UnrecognisedAggregation } from "../aggregations/errors.ts";
import { type ExactJson, type Json, type JsonObject, readExactJson } from "../json/read.ts";
import { compactJson } from "../json/write.ts";
import { UnrecognisedQuery } from "../query/errors.ts";
import { isObject } from "../query/syntax/parser.ts";
import { translate, withModelHint } from "../translate.ts";
import { compileFilter, translateQuery } from "./compile-search.ts";
import type { SearchRequest } from "./request.ts";
import type { SearchContext, SearchPlan } from "./run.ts";
import { planHits } from "./top-hits.ts";

/** Most questions to the model in one search: each may take as long as its answer is waited for. */
const MAX_QUESTIONS = 16;

export interface PlannedAggregations {
  /** Those that the compiler knows. */
  compiled: AggregationPlan;
  /** Names of the others, each with what the vendor would say. */
  unrecognised: ReadonlyMap<string, UnrecognisedAggregation>;
}

/** @throws VendorError for what is wrong, or known neither here nor to a model */
export async function planAggregations(
  json: Json,
  context: SearchContext,
  planHitsOf: (options: { readonly [member: string]: unknown }) => HitsPlan,
): Promise<PlannedAggregations> {
  const { query, twin } = context;
  // Loaded by the first search that has any.
  const aggregations = await import("../aggregations/aggregations.ts");
  const filters = new Map<unknown, Sql>();
  const unrecognised = new Map<string, UnrecognisedAggregation>();
  const asContext = {
    ...query,
    compileFilter: (filter: unknown) =>
      getOrAdd(filters, filter, () => compileFilter(filter, context).predicate),
    planHits: planHitsOf,
  };
  // What is not recognised is found one by one, as each ends the reading.
  for (let questions = 0; ; questions++) {
    try {
      return {
        compiled: aggregations.planAggregations(without(json, unrecognised), asContext),
        unrecognised,
      };
    } catch (error) {
      const known = error instanceof UnrecognisedAggregation || error instanceof UnrecognisedQuery;
      if (!known) throw error;
      if (!isTranslated(error, context) || questions === MAX_QUESTIONS) throw withModelHint(error, twin);
      if (error instanceof UnrecognisedAggregation) unrecognised.set(error.topLevelName, error);
      else filters.set(error.json, (await translateQuery(error, context)).predicate);
    }
  }
}

/** In `vendor` what this twin does not aggregate is refused, whether there is a model or not. */
function isTranslated(
  error: UnrecognisedAggregation | UnrecognisedQuery,
  { twin: { fidelity, translator } }: SearchContext,
): boolean {
  return translator !== undefined && (fidelity === "specification" || error instanceof UnrecognisedQuery);
}

function without(json: Json, names: ReadonlyMap<string, unknown>): Json {
  if (!isObject(json) || names.size === 0) return json;
  return Object.fromEntries(Object.entries(json).filter(([name]) => !names.has(name)));
}

/** The results of a search's aggregations; the post filter is none of their concern. */
export async function aggregate(
  { aggregations, minScore }: SearchRequest,
  plan: SearchPlan,
  context: SearchContext,
  typedKeys: boolean,
): Promise<ReadonlyMap<string, unknown> | undefined> {
  if (aggregations === undefined) return undefined;
  const { call, store, query, signal } = context;
  const searching = { ...context, query: { ...query, index: plan.index } };
  const { compiled, unrecognised } = await planAggregations(aggregations, searching, (options) =>
    planHits(options, plan, context),
  );
  const scored =
    minScore !== undefined &&
    sql`d._row IN (SELECT _row FROM (${plan.query.scored}) WHERE score >= ${minScore})`;
  const conditions = [plan.query.predicate, ...plan.scopeFilters, ...(scored ? [scored] : [])];
  const predicate = joined(conditions, " AND ");
  const { body, statements } = await compiled.run(store, predicate, {
    ...(plan.scopeFilters.length > 0 && { scope: joined(plan.scopeFilters, " AND ") }),
    typedKeys,
    signal,
  });
  call.noteSql(statements);
  if (unrecognised.size === 0 || !isObject(aggregations)) return body;
  const results = new Map(body);
  for (const [name, error] of unrecognised) {
    const definition = definitionOf(aggregations[name]);
    const result = await translateAggregation(name, definition, error, predicate, context);
    results.set(typedKeys ? `${definition.type}#${name}` : name, result);
  }
  return results;
}

interface Definition {
  type: string;
  /** The whole of it. */
  json: JsonObject;
  /** Names of its sub-aggregations. */
  children: ReadonlySet<string>;
}

/** Of an aggregation that was read, and found to be well formed. */
function definitionOf(json: Json | undefined): Definition {
  const members = json !== undefined && isObject(json) ? json : {};
  const inner = members.aggs ?? members.aggregations ?? {};
  const type = Object.keys(members).find((name) => !["aggs", "aggregations", "meta"].includes(name)) ?? "";
  return { type, json: members, children: new Set(Object.keys(inner ?? {})) };
}

/** The result of one aggregation, as the model's statement over the documents found gives it. @throws VendorError */
async function translateAggregation(
  name: string,
  { json, children }: Definition,
  error: UnrecognisedAggregation,
  predicate: Sql,
  { call, twin, store, query, signal }: SearchContext,
): Promise<Map<string, unknown>> {
  const { translator } = twin;
  const refusal = withModelHint(error, twin);
  if (!translator) throw refusal;
  const text = compactJson({ [name]: json });
  const question = { language: "aggregation" as const, text, store, nowMs: query.nowMs, signal };
  const run = async (statement: Sql, until: AbortSignal) => {
    const found = sql`WITH documents AS (SELECT * FROM documents AS d WHERE ${predicate})
      SELECT CAST(to_json(r) AS VARCHAR) AS result FROM (${statement}) AS r LIMIT ${BigInt(MAX_BUCKETS)}`;
    const { rows } = await store.query(found, { signal: until });
    return resultOf(rows.map(([row]) => membersOf(readExactJson(String(row)), children)));
  };
  const result = await translate({ translator, question, run, refusal }, call);
  return json.meta === undefined ? result : new Map([["meta", json.meta], ...result]);
}

/** Buckets have keys; a result that has none is one row. @throws UncheckedSql in words for the model */
function resultOf(rows: readonly Map<string, unknown>[]): Map<string, unknown> {
  const [first] = rows;
  if (!first || first.has("key")) return new Map([["buckets", rows]]);
  if (rows.length === 1) return first;
  throw new UncheckedSql("several rows are buckets, which need a column key");
}

/** A sub-aggregation that is but a value is a result with that value. */
function membersOf(row: ExactJson, children: ReadonlySet<string>): Map<string, unknown> {
  if (!(row instanceof Map)) throw new UncheckedSql("a row of its result has no columns");
  const isValue = (value: ExactJson) => !(value instanceof Map) && !Array.isArray(value);
  return new Map(
    [...row].map(([name, value]) => [
      name,
      children.has(name) && isValue(value) ? new Map([["value", value]]) : value,
    ]),
  );
}

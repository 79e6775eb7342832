/**
 * Runs the aggregations of a search: one statement for those that the compiler recognises, one question to the model
 * for each other.
 */
import { joined, type Sql, sql } from "@offhook/log-store/sql";
import { UncheckedSql } from "@offhook/log-store/translator/checked-select";
import type { HitsPlan, SyntaxContext } from "../aggregations/context.ts";
import { MAX_BUCKETS, UnrecognisedAggregation } from "../aggregations/errors.ts";
import type { Level } from "../aggregations/parse.ts";
import { LocatedError } from "../json/located-error.ts";
import { locateIn } from "../json/position.ts";
import { type ExactJson, type Json, type JsonObject, readExactJson } from "../json/read.ts";
import { compactJson } from "../json/write.ts";
import { parseQuery } from "../query/compile.ts";
import { UnrecognisedQuery } from "../query/errors.ts";
import { isObject } from "../query/syntax/parser.ts";
import { VendorError } from "../vendor/error.ts";
import { readFilter, translateQuery } from "./compile-search.ts";
import type { SearchContext } from "./context.ts";
import type { SearchPlan } from "./plan.ts";
import type { SearchRequest } from "./request.ts";
import { planHits, readHitsRequest } from "./top-hits.ts";
import { translate, withModelHint } from "./translate.ts";

/** Plans the hits of a bucket within the search around them. */
type TopHitsSearch = (request: SearchRequest, of: "found" | "all") => HitsPlan;

/** Bounds the time of a search: each question to the model may take until its timeout. */
const MAX_QUESTIONS = 16;

export interface ParsedAggregations {
  /** Aggregations that the compiler recognises. */
  known: Level;
  /** The vendor's error for each other aggregation, by name. */
  unrecognised: ReadonlyMap<string, UnrecognisedAggregation>;
  /** Sets how `top_hits` are planned; called before the aggregations are planned. */
  setSearch(search: TopHitsSearch): void;
}

/** Reads the aggregations and checks their syntax. @throws VendorError */
export async function parseAggregations(
  { aggregations, query }: SearchRequest,
  context: SearchContext,
): Promise<ParsedAggregations | undefined> {
  if (aggregations === undefined) return undefined;
  const { validatePipelines } = await import("../aggregations/pipeline/validate.ts");
  let wholeIsRead = false;
  try {
    const parsed = await parseMember(aggregations, context);
    wholeIsRead = true;
    validatePipelines(parsed.known);
    return parsed;
  } catch (error) {
    // The vendor reports the first mistake in the text, which may be in the query.
    if (wholeIsRead || aggregations.afterQuery) checkQuery(query, context);
    throw error;
  }
}

/** @throws VendorError for a syntax error in the query */
function checkQuery(json: Json | undefined, { query, text }: SearchContext): void {
  if (json === undefined) return;
  try {
    parseQuery(json, text === undefined ? query : { ...query, locate: locateIn(text, ["query"]) });
  } catch (error) {
    if (!(error instanceof UnrecognisedQuery)) throw error;
  }
}

async function parseMember(
  { member, json }: NonNullable<SearchRequest["aggregations"]>,
  context: SearchContext,
): Promise<ParsedAggregations> {
  const { text, engine } = context;
  // Loaded by the first search that aggregates.
  const reader = await import("../aggregations/parse.ts");
  const filters = new Map<unknown, Sql>();
  const unrecognised = new Map<string, UnrecognisedAggregation>();
  let search: TopHitsSearch | undefined;
  const syntax: SyntaxContext = {
    readFilter(filter, path) {
      const translated = filters.get(filter);
      return translated ? () => translated : readFilter(filter, path, context);
    },
    readHits(options, path) {
      const request = readHitsRequest(options, path, text);
      return (of) => {
        if (!search) throw new Error("top_hits are planned before their search");
        return search(request, of);
      };
    },
  };
  // Each unrecognised part ends the parsing, so it restarts after every answer of the model.
  for (let questions = 0; ; questions++) {
    try {
      const known = reader.parseAggregations(omit(json, unrecognised), [member], syntax);
      return {
        known,
        unrecognised,
        setSearch(set) {
          search = set;
        },
      };
    } catch (error) {
      const asked = error instanceof UnrecognisedAggregation || error instanceof UnrecognisedQuery;
      const placed = error instanceof LocatedError && text !== undefined ? error.at(text) : error;
      if (!asked || !(placed instanceof VendorError)) throw placed;
      if (!isTranslated(error, context) || questions === MAX_QUESTIONS) throw withModelHint(placed, engine);
      if (error instanceof UnrecognisedAggregation) unrecognised.set(error.topLevelName, error);
      else filters.set(error.json, (await translateQuery(error, context)).predicate);
    }
  }
}

/** In `vendor` unrecognised aggregations are refused even with a model; queries inside them are translated. */
function isTranslated(
  error: UnrecognisedAggregation | UnrecognisedQuery,
  { engine: { fidelity, translator } }: SearchContext,
): boolean {
  return translator !== undefined && (fidelity === "specification" || error instanceof UnrecognisedQuery);
}

function omit(json: JsonObject, names: ReadonlyMap<string, unknown>): JsonObject {
  if (names.size === 0) return json;
  return Object.fromEntries(Object.entries(json).filter(([name]) => !names.has(name)));
}

/** Runs the aggregations over what the query matches, regardless of the post filter. */
export async function aggregate(
  { aggregations, minScore }: SearchRequest,
  parsed: ParsedAggregations | undefined,
  plan: SearchPlan,
  context: SearchContext,
  { typedKeys }: { typedKeys: boolean },
): Promise<ReadonlyMap<string, unknown> | undefined> {
  if (aggregations === undefined || parsed === undefined) return undefined;
  const { notes, store, query, signal } = context;
  const { known, unrecognised } = parsed;
  const everything: SearchPlan = { ...plan, query: { ...plan.query, constantScore: 1 } };
  parsed.setSearch((request, of) => planHits(request, of === "all" ? everything : plan, context));
  const { planAggregations } = await import("../aggregations/aggregations.ts");
  const compiled = planAggregations(known, { ...query, index: plan.index });
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
  notes.addSql(statements);
  if (unrecognised.size === 0) return body;
  const results = new Map(body);
  for (const [name, error] of unrecognised) {
    const definition = definitionOf(aggregations.json[name]);
    const result = await translateAggregation(name, definition, error, predicate, context);
    results.set(typedKeys ? `${definition.type}#${name}` : name, result);
  }
  return results;
}

interface Definition {
  type: string;
  /** The whole definition. */
  json: JsonObject;
  /** Names of its sub-aggregations. */
  children: ReadonlySet<string>;
}

/** The definition of an aggregation whose syntax was already checked. */
function definitionOf(json: Json | undefined): Definition {
  const members = json !== undefined && isObject(json) ? json : {};
  const inner = members.aggs ?? members.aggregations ?? {};
  const type = Object.keys(members).find((name) => !["aggs", "aggregations", "meta"].includes(name)) ?? "";
  return { type, json: members, children: new Set(Object.keys(inner ?? {})) };
}

/** One aggregation by the model, as a statement over the matching documents. @throws VendorError */
async function translateAggregation(
  name: string,
  { json, children }: Definition,
  error: UnrecognisedAggregation,
  predicate: Sql,
  { notes, engine, store, query, signal }: SearchContext,
): Promise<Map<string, unknown>> {
  const { translator } = engine;
  const refusal = withModelHint(error, engine);
  if (!translator) throw refusal;
  const text = compactJson({ [name]: json });
  const question = { language: "aggregation" as const, text, store, nowMs: query.nowMs, signal };
  const run = async (statement: Sql, until: AbortSignal) => {
    const found = sql`WITH documents AS (SELECT * FROM documents AS d WHERE ${predicate})
      SELECT CAST(to_json(r) AS VARCHAR) AS result FROM (${statement}) AS r LIMIT ${BigInt(MAX_BUCKETS)}`;
    const { rows } = await store.query(found, { signal: until });
    return resultOf(rows.map(([row]) => membersOf(readExactJson(String(row)), children)));
  };
  const result = await translate({ translator, question, run, refusal }, notes);
  return json.meta === undefined ? result : new Map([["meta", json.meta], ...result]);
}

/**
 * Rows with a `key` are buckets; without it the result is a single row. @throws UncheckedSql in words for the model
 */
function resultOf(rows: readonly Map<string, unknown>[]): Map<string, unknown> {
  const [first] = rows;
  if (!first || first.has("key")) return new Map([["buckets", rows]]);
  if (rows.length === 1) return first;
  throw new UncheckedSql("several rows are buckets, which need a column key");
}

/** Wraps a sub-aggregation's plain value as `{value: …}`. */
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

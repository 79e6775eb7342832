/** Compiles the queries of a search to SQL. */
import { list, type Sql, sql } from "@offhook/log-store/sql";
import type { Selection } from "../indices/expression.ts";
import type { JsonPath } from "../json/position.ts";
import { locateIn } from "../json/position.ts";
import type { Json } from "../json/read.ts";
import { compactJson } from "../json/write.ts";
import { compileInner, compileQuery, parseQuery } from "../query/compile.ts";
import type { CompiledQuery } from "../query/compiled-query.ts";
import { UnrecognisedQuery } from "../query/errors.ts";
import { showSql } from "../query/show-sql.ts";
import { compileWithStatistics } from "../query/term-statistics.ts";
import type { VendorError } from "../vendor/error.ts";
import type { SearchContext } from "./context.ts";
import type { UnrecognisedBody, UrlQuery } from "./request.ts";
import { translate, withModelHint } from "./translate.ts";

export interface CompileOptions {
  /** The member of the body that holds the query; default `query`. */
  member?: string;
  /** Whether hits are scored by this query. */
  scores?: boolean;
  /** Whether no part of the answer depends on scores. */
  unscored?: boolean;
}

/**
 * Compiles a query of the body. Dropped clauses are logged and noted for the journal.
 * @throws VendorError
 */
export async function compile(
  json: Json | undefined,
  context: SearchContext,
  { member = "query", scores = false, unscored = false }: CompileOptions = {},
): Promise<CompiledQuery> {
  const { text, query, notes, store, signal, engine } = context;
  const placed = {
    ...query,
    ...(unscored && { scores: false }),
    ...(text !== undefined && { locate: locateIn(text, [member]) }),
  };
  const ask = async (statement: Sql) => {
    notes.addSql([showSql(statement)]);
    const { rows } = await store.query(statement, { signal });
    return (rows[0] ?? []).map(Number);
  };
  try {
    const compiled = await compileWithStatistics(
      (termStatistics) => compileQuery(json, { ...placed, termStatistics }),
      { store, cache: engine.termStatistics, scores, ask },
    );
    return noteDropped(compiled, context);
  } catch (error) {
    if (error instanceof UnrecognisedQuery) return translateQuery(error, context);
    throw error;
  }
}

/** Compiles `?q=`, a query string. */
export function compileUrlQuery({ text, options }: UrlQuery, context: SearchContext): CompiledQuery {
  return noteDropped(compileQuery({ query_string: { query: text, ...options } }, context.query), context);
}

/** Compiles the query of the URL, else that of the body. @throws VendorError */
export async function compileRequested(
  urlQuery: UrlQuery | undefined,
  json: Json | undefined,
  context: SearchContext,
): Promise<CompiledQuery> {
  return urlQuery ? compileUrlQuery(urlQuery, context) : compile(json, context);
}

/**
 * Parses a query that filters what is counted, without scores.
 * @param path of the query in the body
 * @returns a function that compiles the query @throws VendorError
 */
export function readFilter(json: unknown, path: JsonPath, context: SearchContext): () => Sql {
  const { text, query } = context;
  const parsed = parseQuery(json, text === undefined ? query : { ...query, locate: locateIn(text, path) });
  return () => noteDropped(compileInner(parsed, query), context).predicate;
}

function noteDropped(compiled: CompiledQuery, { notes, engine }: SearchContext): CompiledQuery {
  if (compiled.dropped.length > 0) {
    notes.addDropped(compiled.dropped);
    engine.log.warn({ dropped: compiled.dropped }, "clauses of a query were left out");
  }
  return compiled;
}

/** Translates an unrecognised query by the model. @throws VendorError without a model, or when the model fails */
export function translateQuery(error: UnrecognisedQuery, context: SearchContext): Promise<CompiledQuery> {
  return translateRows("query-dsl", compactJson(error.json ?? {}), error, context);
}

/** Translates a whole body that this twin does not recognise, by the model. @throws VendorError */
export function translateBody(
  { body, error }: UnrecognisedBody,
  context: SearchContext,
): Promise<CompiledQuery> {
  return translateRows("search-body", compactJson(body), error, context);
}

/** All documents that the model finds score 1. */
async function translateRows(
  language: "query-dsl" | "search-body",
  text: string,
  error: VendorError,
  { notes, engine, store, query, signal }: SearchContext,
): Promise<CompiledQuery> {
  const { translator } = engine;
  const refusal = withModelHint(error, engine);
  if (!translator) throw refusal;
  const question = { language, text, store, nowMs: query.nowMs, signal };
  const rows = await translate(
    {
      translator,
      question,
      refusal,
      run: async (statement, until) => {
        const found = sql`SELECT DISTINCT CAST(_row AS BIGINT) AS _row FROM (${statement}) WHERE _row IS NOT NULL`;
        await store.query(sql`SELECT count(_row) FROM (${found})`, { signal: until });
        return found;
      },
    },
    notes,
  );
  return {
    predicate: sql`d._row IN (${rows})`,
    matches: rows,
    scored: sql`SELECT _row, CAST(1 AS DOUBLE) AS score FROM (${rows})`,
    constantScore: 1,
    dropped: [],
    marks: new Map(),
    named: new Map(),
    explain: async () => ({ value: 1, description: "translated by a model", details: [] }),
  };
}

/** Condition for rows of the selected indices; `undefined` for all of them. */
export function indexPredicate({ names, everything }: Selection): Sql | undefined {
  if (everything) return undefined;
  return names.length === 0 ? sql`false` : sql`d._index IN ${list(names)}`;
}

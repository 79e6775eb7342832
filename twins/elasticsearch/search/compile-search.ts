/** The queries of a search as SQL. */
import { list, type Sql, type SqlValue, sql } from "@offhook/log-store/sql";
import type { Call } from "../api/call.ts";
import type { Selection } from "../indices/expression.ts";
import type { Json } from "../json/read.ts";
import { compactJson } from "../json/write.ts";
import { compileInner, compileQuery, parseQuery } from "../query/compile.ts";
import type { CompiledQuery, JsonPath, QueryContext } from "../query/compiled-query.ts";
import { UnrecognisedQuery } from "../query/errors.ts";
import { compileKnowing } from "../query/figures.ts";
import { locateIn } from "../query/json-position.ts";
import type { SearchTwin } from "../search-twin.ts";
import type { VendorError } from "../vendor/error.ts";
import type { UnrecognisedBody, UrlQuery } from "./request.ts";
import { translate, withModelHint } from "./translate.ts";

/** What a query is compiled for. */
export interface CompileContext {
  call: Call;
  twin: SearchTwin;
  query: QueryContext;
  /** The text of the request, for the line and column of its mistakes. */
  text?: string | undefined;
}

export interface CompileOptions {
  /** The member of the body that it is; `query` when absent. */
  member?: string;
  /** Whether its scores are used. */
  scores?: boolean;
  /** Whether nothing that is asked for depends on scores. */
  unscored?: boolean;
}

/**
 * A query of a body. What was dropped is logged, and noted for the journal.
 * @throws VendorError
 */
export async function compile(
  json: Json | undefined,
  context: CompileContext,
  { member = "query", scores = false, unscored = false }: CompileOptions = {},
): Promise<CompiledQuery> {
  const { text, query, call, twin } = context;
  const placed = {
    ...query,
    ...(unscored && { scores: false }),
    ...(text !== undefined && { locate: locateIn(text, [member]) }),
  };
  const store = await twin.store();
  const ask = async (statement: Sql) => {
    call.noteSql([shownSql(statement)]);
    const { rows } = await store.query(statement, { signal: call.signal });
    return (rows[0] ?? []).map(Number);
  };
  try {
    const compiled = await compileKnowing(store, (figures) => compileQuery(json, { ...placed, figures }), {
      scores,
      ask,
    });
    return noted(compiled, context);
  } catch (error) {
    if (error instanceof UnrecognisedQuery) return translateQuery(error, context);
    throw error;
  }
}

/** The query of `?q=`, which is a query string. */
export function compileUrlQuery({ text, options }: UrlQuery, context: CompileContext): CompiledQuery {
  return noted(compileQuery({ query_string: { query: text, ...options } }, context.query), context);
}

/** The query of a URL, or else that of a body. @throws VendorError */
export async function compileAsked(
  urlQuery: UrlQuery | undefined,
  json: Json | undefined,
  context: CompileContext,
): Promise<CompiledQuery> {
  return urlQuery ? compileUrlQuery(urlQuery, context) : compile(json, context);
}

/**
 * Reads a query that decides what is counted, and scores nothing.
 * @param path of it in the body
 * @returns compiles it @throws VendorError
 */
export function readFilter(json: unknown, path: JsonPath, context: CompileContext): () => Sql {
  const { text, query } = context;
  const parsed = parseQuery(json, text === undefined ? query : { ...query, locate: locateIn(text, path) });
  return () => noted(compileInner(parsed, query), context).predicate;
}

function noted(compiled: CompiledQuery, { call, twin }: CompileContext): CompiledQuery {
  if (compiled.dropped.length > 0) {
    call.noteDropped(compiled.dropped);
    twin.log.warn({ dropped: compiled.dropped }, "clauses of a query were left out");
  }
  return compiled;
}

/** A query that the compiler does not know, by the model. @throws VendorError when there is none, or it does not know either */
export function translateQuery(error: UnrecognisedQuery, context: CompileContext): Promise<CompiledQuery> {
  return translateRows("query-dsl", compactJson(error.json ?? {}), error, context);
}

/** The events that a body is about which is no search of this twin's, by the model. @throws VendorError */
export function translateBody(
  { body, error }: UnrecognisedBody,
  context: CompileContext,
): Promise<CompiledQuery> {
  return translateRows("search-body", compactJson(body), error, context);
}

/** Every document that the model finds scores the same. */
async function translateRows(
  language: "query-dsl" | "search-body",
  text: string,
  error: VendorError,
  { call, twin, query }: CompileContext,
): Promise<CompiledQuery> {
  const { translator } = twin;
  const refusal = withModelHint(error, twin);
  if (!translator) throw refusal;
  const store = await twin.store();
  const question = { language, text, store, nowMs: query.nowMs, signal: call.signal };
  const rows = await translate(
    {
      translator,
      question,
      refusal,
      run: async (statement, signal) => {
        const found = sql`SELECT DISTINCT CAST(_row AS BIGINT) AS _row FROM (${statement}) WHERE _row IS NOT NULL`;
        await store.query(sql`SELECT count(_row) FROM (${found})`, { signal });
        return found;
      },
    },
    call,
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

/** Rows of the selected indices; `undefined` when that is all of them. */
export function indexPredicate({ names, everything }: Selection): Sql | undefined {
  if (everything) return undefined;
  return names.length === 0 ? sql`false` : sql`d._index IN ${list(names)}`;
}

/** A statement with its values in their places, as the journal shows it. It is never run. */
export function shownSql({ texts, values }: Sql): string {
  const shown = texts.reduce((text, next, index) => `${text}${showValue(values[index - 1])}${next}`);
  return shown.replaceAll(/\s+/g, " ").trim();
}

function showValue(value: SqlValue | undefined): string {
  if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
  return String(value ?? "NULL");
}

/** Carries a search out: one statement for the total and the page, one for what is answered of its hits. */
import type { Sql, SqlValue } from "../../datasets/sql.ts";
import { joined, raw, sql } from "../../datasets/sql.ts";
import { type LogStore, QueryInterrupted, type ResultValue } from "../../datasets/store/log-store.ts";
import { planAggregations } from "../aggregations/aggregations.ts";
import type { Call } from "../api/call.ts";
import { type ExpressionOptions, matches, type Selection, select } from "../indices/expression.ts";
import { knownIndices } from "../indices/known-indices.ts";
import { targetOf } from "../query/compile/target.ts";
import type { CompiledQuery, QueryContext } from "../query/compiled-query.ts";
import type { SearchTwin } from "../search-twin.ts";
import { illegalOnShard } from "../shard-failure.ts";
import {
  type CompileContext,
  compile,
  compileFilter,
  compileUrlQuery,
  indexPredicate,
  shownSql,
} from "./compile-search.ts";
import { hitsOfPage, type PageHit } from "./hits.ts";
import { checkSearch, MAX_WINDOW, type SearchRequest } from "./request.ts";
import type { Sort } from "./sort.ts";
import { fielddataError, type SortKey, sortKey } from "./sort-key.ts";
import { pageStatement } from "./statement.ts";
import { planHits } from "./top-hits.ts";

/** Where a search looks. */
export interface SearchScope {
  selection: Selection;
  /** Events written after this row are not seen: a snapshot. */
  upToRow?: bigint;
}

export interface SearchContext {
  call: Call;
  twin: SearchTwin;
  store: LogStore;
  query: QueryContext;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** The text of the request, when its body is the search. */
  text: string | undefined;
}

/** @param signal the client's own when absent */
export async function openSearch(call: Call, twin: SearchTwin, signal = call.signal): Promise<SearchContext> {
  const store = await twin.store();
  const { fidelity, clock, index } = twin;
  const query = { fields: store.fields, fidelity, nowMs: clock.now(), index };
  return { call, twin, store, query, signal, text: call.text() };
}

/** The indices of an expression. @throws VendorError 404 */
export async function scopeOf(
  expression: string | undefined,
  options: ExpressionOptions,
  twin: SearchTwin,
): Promise<SearchScope> {
  const context = {
    known: await knownIndices(twin),
    fidelity: twin.fidelity,
    nowMs: twin.clock.now(),
  };
  return { selection: select(expression === "" ? undefined : expression, options, context) };
}

/** The same, in indices whose first one errors name. */
export function within<Context extends { query: QueryContext; twin: SearchTwin }>(
  context: Context,
  { selection }: SearchScope,
): Context {
  const index = selection.names[0] ?? context.twin.index;
  return { ...context, query: { ...context.query, index } };
}

/** What a search found, before it is written. */
export interface SearchResult {
  tookMs: number;
  timedOut: boolean;
  terminatedEarly: boolean | undefined;
  shards: number;
  /** The first of the indices searched. */
  index: string;
  total: number;
  /** Whether there are more than `total`. */
  more: boolean;
  maxScore: number | undefined;
  hits: object[];
  /** Sort values of the last hit, by which the next page is found. */
  last: SqlValue[] | undefined;
  aggregations: object | undefined;
}

/** How a search is run, beyond what it asks for. */
export interface RunOptions {
  /** Names of aggregations are with their types. */
  typedKeys?: boolean;
  /** The search is one page of a scroll: after these values, or the first. */
  paging?: { after: SqlValue[] | undefined };
}

export async function runSearch(
  request: SearchRequest,
  scope: SearchScope,
  searching: SearchContext,
  { typedKeys = false, paging }: RunOptions = {},
): Promise<SearchResult> {
  const startedAt = performance.now();
  checkSearch(request);
  const context = within(searching, scope);
  const { index } = context.query;
  checkWindow(request, index);
  const plan = await planOf(request, scope, context, index, paging !== undefined);
  // Beside the page: each waits for its own statement.
  const aggregating = aggregate(request, plan, context, typedKeys);
  aggregating.catch(() => undefined);
  const found = await findPage(request, plan, context, paging?.after);
  const hits = found.page.length === 0 ? [] : await hitsOfPage(found.page, request, plan, context);
  const { total, more } = cappedTotal(found.total, request.countUpTo);
  return {
    tookMs: Math.round(performance.now() - startedAt),
    timedOut: found.timedOut,
    terminatedEarly: request.terminateAfter > 0 ? found.total >= request.terminateAfter : undefined,
    shards: scope.selection.names.length,
    index,
    total,
    more,
    maxScore: found.maxScore,
    hits,
    last: found.page.at(-1)?.keyValues,
    aggregations: found.timedOut ? undefined : await aggregating,
  };
}

/** The results of a search's aggregations; the post filter is none of their concern. */
async function aggregate(
  { aggregations, minScore }: SearchRequest,
  plan: SearchPlan,
  context: SearchContext,
  typedKeys: boolean,
): Promise<object | undefined> {
  if (aggregations === undefined) return undefined;
  const { call, store, query, signal } = context;
  const planned = planAggregations(aggregations, {
    ...query,
    index: plan.index,
    compileFilter: (json) => compileFilter(json, context).predicate,
    planHits: (options) => planHits(options, plan, context),
  });
  const scored =
    minScore !== undefined &&
    sql`d._row IN (SELECT _row FROM (${plan.query.scored}) WHERE score >= ${minScore})`;
  const conditions = [plan.query.predicate, ...plan.scopeFilters, ...(scored ? [scored] : [])];
  const { body, statements } = await planned.run(store, joined(conditions, " AND "), {
    ...(plan.scopeFilters.length > 0 && { scope: joined(plan.scopeFilters, " AND ") }),
    typedKeys,
    signal,
  });
  call.noteSql(statements);
  return body;
}

/** How many events a search finds. */
export async function countHits(
  request: SearchRequest,
  scope: SearchScope,
  context: SearchContext,
): Promise<number> {
  const counting = { ...request, size: 0, from: 0, countUpTo: Number.POSITIVE_INFINITY };
  return (await runSearch(counting, scope, context)).total;
}

/** A search, ready to be asked. */
export interface SearchPlan {
  query: CompiledQuery;
  keys: SortKey[];
  filters: Sql[];
  /** Those of `filters` that say where is searched. */
  scopeFilters: Sql[];
  scores: boolean;
  /** Whether hits carry what they were sorted by. */
  sorted: boolean;
  collapseBy: Sql | undefined;
  index: string;
}

async function planOf(
  request: SearchRequest,
  scope: SearchScope,
  context: SearchContext,
  index: string,
  paged: boolean,
): Promise<SearchPlan> {
  const compiling: CompileContext = context;
  const query = request.urlQuery
    ? compileUrlQuery(request.urlQuery, compiling)
    : await compile(request.query, compiling);
  const postFilter = request.postFilter && (await compile(request.postFilter, compiling, "post_filter"));
  const indices = indexPredicate(scope.selection);
  const sorts: Sort[] = request.sort.length === 0 ? [{ kind: "score", order: "desc" }] : [...request.sort];
  if (paged) sorts.push({ kind: "document", order: "asc", answered: false });
  else if (request.pit && !sorts.some(({ kind }) => kind === "document")) {
    sorts.push({ kind: "document", order: "asc", answered: request.sort.length > 0 });
  }
  const keys = sorts.map((sort) => sortKey(sort, context.query, index));
  const byScore = sorts.some(({ kind }) => kind === "score");
  const scopeFilters = [
    ...(indices ? [indices] : []),
    ...(scope.upToRow === undefined ? [] : [sql`d._row <= ${scope.upToRow}`]),
  ];
  return {
    query,
    keys,
    scopeFilters,
    filters: postFilter ? [...scopeFilters, postFilter.predicate] : scopeFilters,
    scores: byScore || request.trackScores || request.minScore !== undefined,
    sorted: request.sort.length > 0,
    collapseBy: request.collapse && collapseValue(request.collapse.field, context.query, index),
    index,
  };
}

function collapseValue(name: string, context: QueryContext, index: string): Sql {
  const target = targetOf(context, name, "whole");
  switch (target.kind) {
    case "words":
      throw fielddataError(name, index);
    case "missing":
      throw illegalOnShard(`no mapping found for \`${name}\` in order to collapse on`, index);
    case "meta":
      return raw(`d.${target.name}`);
    default:
      return sortKey(
        {
          kind: "field",
          field: name,
          order: "asc",
          missing: "_last",
          mode: undefined,
          format: undefined,
          unmappedType: undefined,
          numericType: undefined,
        },
        context,
        index,
      ).value;
  }
}

function checkWindow({ from, size, searchAfter }: SearchRequest, index: string): void {
  if (from + size <= MAX_WINDOW || (searchAfter && size <= MAX_WINDOW)) return;
  throw illegalOnShard(
    `Result window is too large, from + size must be less than or equal to: [${MAX_WINDOW}] but was [${from + size}]. See the scroll api for a more efficient way to request large data sets. This limit can be set by changing the [index.max_result_window] index level setting.`,
    index,
  );
}

interface FoundPage {
  total: number;
  maxScore: number | undefined;
  page: PageHit[];
  timedOut: boolean;
}

async function findPage(
  request: SearchRequest,
  plan: SearchPlan,
  { call, store, twin, signal }: SearchContext,
  after: SqlValue[] | undefined,
): Promise<FoundPage> {
  const statement = pageStatement({
    query: plan.query,
    filters: plan.filters,
    keys: plan.keys,
    after: after ?? (request.searchAfter && readAfter(request.searchAfter, plan, request.pit)),
    from: request.from,
    size: request.size,
    scores: plan.scores,
    minScore: request.minScore,
    boosts: request.indicesBoost.map(([pattern, factor]) => boostOf(pattern, factor, twin)),
    terminateAfter: request.terminateAfter,
    countUpTo: request.countUpTo,
    collapseBy: plan.collapseBy,
  });
  call.noteSql([shownSql(statement)]);
  const deadline = request.timeoutMs === undefined ? {} : { deadlineMs: request.timeoutMs };
  try {
    const { rows } = await store.query(statement, { signal, ...deadline });
    return readPage(rows, plan, request);
  } catch (error) {
    const ended = error instanceof QueryInterrupted && error.reason === "deadline";
    if (!ended || request.timeoutMs === undefined) throw error;
    return { total: 0, maxScore: undefined, page: [], timedOut: true };
  }
}

function boostOf(pattern: string, factor: number, { index }: SearchTwin) {
  const like = pattern.replaceAll(/[%_\\]/g, "\\$&").replaceAll("*", "%");
  const predicate =
    matches(index, pattern) && pattern === "*" ? sql`true` : sql`d._index LIKE ${like} ESCAPE '\\'`;
  return { predicate, factor };
}

function readAfter(
  values: NonNullable<SearchRequest["searchAfter"]>,
  { keys, index }: SearchPlan,
  pit: SearchRequest["pit"],
): SqlValue[] {
  const expected = keys.filter(({ answered }) => answered).length;
  // The tiebreaker of a point in time may be left out.
  const known = values.length === expected || (pit !== undefined && values.length === expected - 1);
  if (!known) {
    throw illegalOnShard(`search_after has ${values.length} value(s) but sort has ${expected}.`, index);
  }
  return values.map((value, number) => keys[number]?.read(value) ?? null);
}

/** Places of the columns of a page statement. */
const TOTAL = 0;
const MAX_SCORE = 1;
const ROW = 2;
const SCORE = 3;
const GROUP = 4;
const FIRST_KEY = 5;

function readPage(rows: readonly ResultValue[][], plan: SearchPlan, request: SearchRequest): FoundPage {
  const [first = []] = rows;
  const maxScore = first[MAX_SCORE];
  const page = rows
    .filter((row) => (row[ROW] ?? null) !== null)
    .map((row) => {
      const values = plan.keys.map((_, index) => row[FIRST_KEY + index] ?? null);
      return {
        row: BigInt(Number(row[ROW])),
        score: typeof row[SCORE] === "number" ? row[SCORE] : undefined,
        group: row[GROUP] ?? null,
        sort: plan.keys.flatMap((key, index) => (key.answered ? [key.show(values[index] ?? null)] : [])),
        keyValues: values.map((value) => (Array.isArray(value) ? null : value)),
      };
    });
  const byScore = request.sort.length === 0 || request.trackScores || request.sort[0]?.kind === "score";
  return {
    total: Number(first[TOTAL] ?? 0),
    maxScore: byScore && typeof maxScore === "number" ? maxScore : undefined,
    page,
    timedOut: false,
  };
}

function cappedTotal(total: number, countUpTo: number): { total: number; more: boolean } {
  return total > countUpTo ? { total: countUpTo, more: true } : { total, more: false };
}

/** Carries a search out: one statement for the total and the page, one for what is answered of its hits. */
import type { Sql, SqlValue } from "@offhook/log-store/sql";
import { sql } from "@offhook/log-store/sql";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { withCurrentFields } from "@offhook/log-store/store/store-reader";
import type { Call } from "../api/call.ts";
import { aliasTargets } from "../indices/aliases.ts";
import { type ExpressionOptions, type Selection, select } from "../indices/expression.ts";
import { knownIndices } from "../indices/known-indices.ts";
import { visibleFields } from "../indices/own-indices.ts";
import type { CompiledQuery, QueryContext } from "../query/compiled-query.ts";
import type { SearchTwin } from "../search-twin.ts";
import { illegalOnShard, isShardFailure, shardFailures } from "../vendor/shard-failure.ts";
import { aggregate, parseAggregations } from "./aggregate.ts";
import { type CollapseColumn, checkSingleValued, collapseColumn } from "./collapse.ts";
import {
  type CompileContext,
  compile,
  compileUrlQuery,
  indexPredicate,
  translateBody,
} from "./compile-search.ts";
import { checkHighlight } from "./highlight-options.ts";
import { hitsOfPage } from "./hits.ts";
import { findPage } from "./page.ts";
import { checkSearch, MAX_WINDOW, type SearchRequest } from "./request.ts";
import { isSorted, type Sort } from "./sort.ts";
import { type SortKey, sortKey } from "./sort-key.ts";

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
  purpose: "read" | "write" = "read",
): Promise<SearchScope> {
  const context = {
    known: await knownIndices(twin),
    aliases: await aliasTargets(twin),
    fidelity: twin.fidelity,
    nowMs: twin.clock.now(),
    purpose,
  };
  return { selection: select(expression === "" ? undefined : expression, options, context) };
}

/** The same, in certain indices: by their fields, and with the first of them in errors. */
export function within<Context extends { query: QueryContext; twin: SearchTwin }>(
  context: Context,
  { selection }: SearchScope,
): Context {
  const index = selection.names[0] ?? context.twin.index;
  const visible = visibleFields(context.query.fields, selection);
  return { ...context, query: { ...context.query, ...visible, index } };
}

/** What a search found, before it is written. */
export interface SearchResult {
  tookMs: number;
  timedOut: boolean;
  terminatedEarly: boolean | undefined;
  shards: number;
  /** Of those, the ones that failed. */
  failures: readonly object[];
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
  context: SearchContext,
  options: RunOptions = {},
): Promise<SearchResult> {
  checkSearch(request);
  return withCurrentFields(context.store, (fields) => {
    const searching = within({ ...context, query: { ...context.query, fields } }, scope);
    return attemptSearch(request, scope, searching, options);
  });
}

async function attemptSearch(
  request: SearchRequest,
  scope: SearchScope,
  context: SearchContext,
  { typedKeys = false, paging }: RunOptions,
): Promise<SearchResult> {
  const startedAt = performance.now();
  const { index } = context.query;
  if (scope.selection.names.length === 0) {
    await parseAggregations(request, context);
    await checkWithoutShards(request, context);
    return { ...nothingFound, index, tookMs: Math.round(performance.now() - startedAt) };
  }
  const aggregations = await parseAggregations(request, context);
  const plan = await planOf(request, scope, context, index, paging !== undefined);
  // Beside the page: each waits for its own statement.
  const aggregating = aggregate(request, aggregations, plan, context, typedKeys);
  aggregating.catch(() => undefined);
  if (request.size > 0) await checkSingleValued(request, plan, context);
  const found = await findPage(request, plan, context, paging?.after);
  const hits = found.page.length === 0 ? [] : await hitsOfPage(found.page, request, plan, context);
  const { total, more } = cappedTotal(found.total, request.countUpTo);
  return {
    tookMs: Math.round(performance.now() - startedAt),
    timedOut: found.timedOut,
    terminatedEarly: endedEarly(request, found.total),
    shards: scope.selection.names.length,
    failures: (plan.query.failures ?? []).flatMap(({ names, error }) => shardFailures(names, error)),
    index,
    total,
    more,
    maxScore: found.maxScore,
    hits,
    last: found.page.at(-1)?.keyValues,
    aggregations: found.timedOut ? undefined : await aggregating,
  };
}

/** Whether a search ended before it had looked at everything; `undefined` where nothing says that it may. */
function endedEarly(request: SearchRequest, total: number): boolean | undefined {
  const { terminateAfter, size, countUpTo, aggregations } = request;
  if (terminateAfter > 0) return total >= terminateAfter;
  // A search that only counts is told to end after the most hits that there can be.
  const counts = size === 0 && countUpTo === Number.POSITIVE_INFINITY && aggregations === undefined;
  return counts ? false : undefined;
}

/** What is found where no index is searched: aggregations have no results then. */
const nothingFound = {
  timedOut: false,
  terminatedEarly: undefined,
  shards: 0,
  failures: [],
  total: 0,
  more: false,
  maxScore: undefined,
  hits: [],
  last: undefined,
  aggregations: undefined,
};

/** Where no index is searched, a request is wrong by its text alone: no shard finds anything wrong with it. @throws VendorError */
async function checkWithoutShards(request: SearchRequest, context: SearchContext): Promise<void> {
  const checks = [
    () =>
      request.unrecognised ? translateBody(request.unrecognised, context) : compile(request.query, context),
    () => request.postFilter && compile(request.postFilter, context, { member: "post_filter" }),
  ];
  for (const check of checks) {
    try {
      await check();
    } catch (error) {
      if (!isShardFailure(error)) throw error;
    }
  }
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
  collapse: CollapseColumn | undefined;
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
  const sorts: Sort[] = request.sort.length === 0 ? [{ kind: "score", order: "desc" }] : [...request.sort];
  if (paged) sorts.push({ kind: "document", order: "asc", answered: false });
  else if (request.pit && !sorts.some(({ kind }) => kind === "document")) {
    sorts.push({ kind: "document", order: "asc", answered: request.sort.length > 0 });
  }
  const byScore = sorts.some(({ kind }) => kind === "score");
  const scores = byScore || request.trackScores || request.minScore !== undefined;
  const query = await compileFor(request, compiling, scores);
  const postFilter =
    request.postFilter && (await compile(request.postFilter, compiling, { member: "post_filter" }));
  // In the order in which the vendor's shard looks at them.
  const keys = sorts.map((sort) => sortKey(sort, context.query, index));
  if (request.highlight) checkHighlight(request.highlight, index);
  checkAfter(request, index);
  const collapse = request.collapse && collapseColumn(request.collapse, context.query, index);
  checkWindow(request, index);
  const indices = indexPredicate(scope.selection);
  const scopeFilters = [
    ...(indices ? [indices] : []),
    ...(scope.upToRow === undefined ? [] : [sql`d._row <= ${scope.upToRow}`]),
  ];
  return {
    query,
    keys,
    scopeFilters,
    filters: postFilter ? [...scopeFilters, postFilter.predicate] : scopeFilters,
    scores,
    sorted: isSorted(request.sort),
    collapse,
    index,
  };
}

async function compileFor(
  { unrecognised, urlQuery, query, size, minScore, aggregations }: SearchRequest,
  context: CompileContext,
  wanted: boolean,
): Promise<CompiledQuery> {
  if (unrecognised) return translateBody(unrecognised, context);
  if (urlQuery) return compileUrlQuery(urlQuery, context);
  const scores = wanted && size > 0;
  // Hits within an aggregation may be scored.
  const unscored = !scores && minScore === undefined && aggregations === undefined;
  return compile(query, context, { scores, unscored });
}

function checkWindow({ from, size, searchAfter }: SearchRequest, index: string): void {
  if (from + size <= MAX_WINDOW || (searchAfter && size <= MAX_WINDOW)) return;
  throw illegalOnShard(
    `Result window is too large, from + size must be less than or equal to: [${MAX_WINDOW}] but was [${from + size}]. See the scroll api for a more efficient way to request large data sets. This limit can be set by changing the [index.max_result_window] index level setting.`,
    index,
  );
}

/** @throws VendorError for values to go on after that do not fit the order */
function checkAfter({ searchAfter, sort, pit, collapse }: SearchRequest, index: string): void {
  if (!searchAfter) return;
  if (!isSorted(sort) && !pit) throw illegalOnShard("Sort must contain at least one field.", index);
  const [first] = sort;
  const isSame = sort.length === 1 && first?.kind === "field" && first.field === collapse?.field;
  if (!collapse || isSame) return;
  throw illegalOnShard(
    "Cannot use [collapse] in conjunction with [search_after] unless the search is sorted on the same field. Multiple sort fields are not allowed.",
    index,
  );
}

function cappedTotal(total: number, countUpTo: number): { total: number; more: boolean } {
  // Not a single one is counted: whether there is any is not known.
  const isOpen = total > countUpTo || countUpTo === 0;
  return isOpen ? { total: countUpTo, more: true } : { total, more: false };
}

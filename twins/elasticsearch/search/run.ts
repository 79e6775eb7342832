/** Runs a search: one statement for the total and the page, one that reads the hits. */
import type { SqlValue } from "@offhook/log-store/sql";
import { withCurrentFields } from "@offhook/log-store/store/store-reader";
import { isShardFailure, shardFailures } from "../vendor/shard-failure.ts";
import { aggregate, parseAggregations } from "./aggregate.ts";
import { compile, translateBody } from "./compile-search.ts";
import { narrow, type SearchContext, type SearchScope } from "./context.ts";
import { hitsOfPage } from "./hits.ts";
import { checkSingleValued, findPage } from "./page.ts";
import { planSearch } from "./plan.ts";
import { checkSearch, type SearchRequest } from "./request.ts";

/** The outcome of a search. */
export interface SearchResult {
  tookMs: number;
  timedOut: boolean;
  terminatedEarly: boolean | undefined;
  shards: number;
  /** Failures of single shards. */
  failures: readonly object[];
  /** The first of the searched indices. */
  index: string;
  total: number;
  /** Whether the count stopped before the last hit. */
  hasMore: boolean;
  maxScore: number | undefined;
  hits: object[];
  /** Sort values of the last hit, where the next page starts. */
  last: SqlValue[] | undefined;
  aggregations: object | undefined;
}

/** Options beside the request. */
export interface RunOptions {
  /** Prefix aggregation names with their types. */
  typedKeys?: boolean;
  /** The search is a page of a scroll that starts after these values, or the first page. */
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
    const searching = narrow({ ...context, query: { ...context.query, fields } }, scope);
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
  const plan = await planSearch(request, scope, context, { isScrolled: paging !== undefined });
  // Runs beside the page; a failure surfaces when it is awaited below.
  const aggregating = aggregate(request, aggregations, plan, context, { typedKeys });
  aggregating.catch(() => undefined);
  if (request.size > 0) await checkSingleValued(request, plan, context);
  const found = await findPage(request, plan, context, paging?.after);
  const hits = found.page.length === 0 ? [] : await hitsOfPage(found.page, request, plan, context);
  const { total, hasMore } = capTotal(found.total, request.countUpTo);
  return {
    tookMs: Math.round(performance.now() - startedAt),
    timedOut: found.timedOut,
    terminatedEarly: readTerminatedEarly(request, found.total),
    shards: scope.selection.names.length,
    failures: (plan.query.failures ?? []).flatMap(({ names, error }) => shardFailures(names, error)),
    index,
    total,
    hasMore,
    maxScore: found.maxScore,
    hits,
    last: found.page.at(-1)?.keyValues,
    aggregations: found.timedOut ? undefined : await aggregating,
  };
}

/** `terminated_early`; `undefined` where the answer has no such member. */
function readTerminatedEarly(request: SearchRequest, total: number): boolean | undefined {
  const { terminateAfter, size, countUpTo, aggregations } = request;
  if (terminateAfter > 0) return total >= terminateAfter;
  // The vendor sets a bound on searches that only count, and reports that it was not reached.
  const counts = size === 0 && countUpTo === Number.POSITIVE_INFINITY && aggregations === undefined;
  return counts ? false : undefined;
}

/** A search of no index answers without aggregations. */
const nothingFound = {
  timedOut: false,
  terminatedEarly: undefined,
  shards: 0,
  failures: [],
  total: 0,
  hasMore: false,
  maxScore: undefined,
  hits: [],
  last: undefined,
  aggregations: undefined,
};

/** Without an index there is no shard to fail, so only syntax errors count. @throws VendorError */
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

/** The number of events that a search matches. */
export async function countHits(
  request: SearchRequest,
  scope: SearchScope,
  context: SearchContext,
): Promise<number> {
  const counting = { ...request, size: 0, from: 0, countUpTo: Number.POSITIVE_INFINITY };
  return (await runSearch(counting, scope, context)).total;
}

function capTotal(total: number, countUpTo: number): { total: number; hasMore: boolean } {
  // With `track_total_hits: 0` nothing is counted, so there may be more.
  const isOpen = total > countUpTo || countUpTo === 0;
  return isOpen ? { total: countUpTo, hasMore: true } : { total, hasMore: false };
}

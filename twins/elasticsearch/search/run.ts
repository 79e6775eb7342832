/** Runs a search: one statement for the total and the page, one for what is answered of its hits. */
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

function cappedTotal(total: number, countUpTo: number): { total: number; more: boolean } {
  // Not a single one is counted: whether there is any is not known.
  const isOpen = total > countUpTo || countUpTo === 0;
  return isOpen ? { total: countUpTo, more: true } : { total, more: false };
}

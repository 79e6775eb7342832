/** Plans a search: compiles every part that its statements consist of. */
import { type Sql, sql } from "@offhook/log-store/sql";
import type { CompiledQuery } from "../query/compiled-query.ts";
import { illegalOnShard } from "../vendor/shard-failure.ts";
import { type CollapseColumn, collapseColumn } from "./collapse.ts";
import { compile, compileUrlQuery, indexPredicate, translateBody } from "./compile-search.ts";
import type { SearchContext, SearchScope } from "./context.ts";
import { checkHighlight } from "./highlight-options.ts";
import { MAX_WINDOW, type SearchRequest } from "./request.ts";
import { isSorted, type Sort } from "./sort.ts";
import { type SortKey, sortKey } from "./sort-key.ts";

/** A search compiled to SQL. */
export interface SearchPlan {
  query: CompiledQuery;
  keys: SortKey[];
  filters: Sql[];
  /** The part of `filters` that limits the search to its scope. */
  scopeFilters: Sql[];
  scores: boolean;
  /** Whether hits show their sort values. */
  showsSort: boolean;
  collapse: CollapseColumn | undefined;
  index: string;
}

export async function planSearch(
  request: SearchRequest,
  scope: SearchScope,
  context: SearchContext,
  { isScrolled }: { isScrolled: boolean },
): Promise<SearchPlan> {
  const { index } = context.query;
  const sorts: Sort[] = request.sort.length === 0 ? [{ kind: "score", order: "desc" }] : [...request.sort];
  if (isScrolled) sorts.push({ kind: "document", order: "asc", isShown: false });
  else if (request.pit && !sorts.some(({ kind }) => kind === "document")) {
    sorts.push({ kind: "document", order: "asc", isShown: request.sort.length > 0 });
  }
  const byScore = sorts.some(({ kind }) => kind === "score");
  const scores = byScore || request.trackScores || request.minScore !== undefined;
  const query = await compileFor(request, context, { isScored: scores });
  const postFilter =
    request.postFilter && (await compile(request.postFilter, context, { member: "post_filter" }));
  // Checks run in the order of the vendor's shard, which decides the error that is reported.
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
    showsSort: isSorted(request.sort),
    collapse,
    index,
  };
}

async function compileFor(
  { unrecognised, urlQuery, query, size, minScore, aggregations }: SearchRequest,
  context: SearchContext,
  { isScored }: { isScored: boolean },
): Promise<CompiledQuery> {
  if (unrecognised) return translateBody(unrecognised, context);
  if (urlQuery) return compileUrlQuery(urlQuery, context);
  const scores = isScored && size > 0;
  // `top_hits` may show scores.
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

/** @throws VendorError for a `search_after` that does not fit the order */
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

/** Searches that span several requests. */
import type { SqlValue } from "@offhook/log-store/sql";
import type { Clock } from "@offhook/platform/base/clock";
import type { SearchScope } from "./context.ts";
import { KeepAliveMap } from "./keep-alive.ts";
import type { SearchRequest } from "./request.ts";

/** A search read page by page. */
export interface Scroll {
  request: SearchRequest;
  scope: SearchScope;
  after: SqlValue[] | undefined;
}

/** A search whose result is fetched later. */
export interface AsyncSearch {
  startedMs: number;
  expiresMs: number;
  /** The body of the answer, once the search is done. */
  answer: object | undefined;
  failure: { status: number; body: object } | undefined;
  completedMs: number | undefined;
  /** Settles with the answer or the failure. */
  done: Promise<void>;
  cancel(): void;
}

export interface OpenSearches {
  scrolls: KeepAliveMap<Scroll>;
  pointsInTime: KeepAliveMap<SearchScope>;
  asyncSearches: KeepAliveMap<AsyncSearch>;
}

const LIMIT = 500;

export function createOpenSearches(clock: Clock): OpenSearches {
  const refusal = `Trying to create too many scroll contexts. Must be less than or equal to: [${LIMIT}]. This limit can be set by changing the [search.max_open_scroll_context] setting.`;
  const limits = { entries: LIMIT, refusal };
  return {
    scrolls: new KeepAliveMap(clock, limits),
    pointsInTime: new KeepAliveMap(clock, limits),
    asyncSearches: new KeepAliveMap(clock, {
      entries: LIMIT,
      refusal: `At most ${LIMIT} async searches are kept at a time`,
    }),
  };
}

/** Ends all of them when their data goes away. */
export function endSearches({ scrolls, pointsInTime, asyncSearches }: OpenSearches): void {
  scrolls.clear();
  pointsInTime.clear();
  asyncSearches.clear();
}

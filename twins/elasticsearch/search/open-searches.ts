/** The searches that go on over several requests. */
import type { SqlValue } from "@offhook/log-store/sql";
import type { Clock } from "@offhook/platform/base/clock";
import type { SearchScope } from "./context.ts";
import { Kept } from "./kept.ts";
import type { SearchRequest } from "./request.ts";

/** A search that is read page by page. */
export interface Scroll {
  request: SearchRequest;
  scope: SearchScope;
  after: SqlValue[] | undefined;
}

/** A search that is asked about later. */
export interface AsyncSearch {
  startedMs: number;
  expiresMs: number;
  /** The body of the answer, once there is one. */
  answer: object | undefined;
  failure: { status: number; body: object } | undefined;
  completedMs: number | undefined;
  /** Settles when there is an answer, or a failure. */
  done: Promise<void>;
  cancel(): void;
}

export interface OpenSearches {
  scrolls: Kept<Scroll>;
  pointsInTime: Kept<SearchScope>;
  asyncSearches: Kept<AsyncSearch>;
}

const LIMIT = 500;

export function createOpenSearches(clock: Clock): OpenSearches {
  const refusal = `Trying to create too many scroll contexts. Must be less than or equal to: [${LIMIT}]. This limit can be set by changing the [search.max_open_scroll_context] setting.`;
  const limits = { entries: LIMIT, refusal };
  return {
    scrolls: new Kept(clock, limits),
    pointsInTime: new Kept(clock, limits),
    asyncSearches: new Kept(clock, {
      entries: LIMIT,
      refusal: `At most ${LIMIT} async searches are kept at a time`,
    }),
  };
}

/** Ends all of them: what they were reading is not there any more. */
export function endSearches({ scrolls, pointsInTime, asyncSearches }: OpenSearches): void {
  scrolls.dropAll();
  pointsInTime.dropAll();
  asyncSearches.dropAll();
}

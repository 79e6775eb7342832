/** Searches read page by page: scrolls and points in time. */

import { raw } from "@offhook/log-store/sql";
import type { Operation } from "@offhook/platform/http/operation";
import { invalidRequest } from "../documents/errors.ts";
import { expressionParameters, readExpressionOptions } from "../indices/expression.ts";
import { tokenOf } from "../json/token.ts";
import { type SearchScope, scopeOf } from "../search/context.ts";
import { contextMissing } from "../search/keep-alive.ts";
import type { Scroll } from "../search/open-searches.ts";
import type { SearchRequest } from "../search/request.ts";
import { runSearch } from "../search/run.ts";
import { searchBody } from "../search/search-body.ts";
import type { SearchTwin } from "../search-twin.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import { searchShards } from "../vendor/node.ts";
import { readDurationMs } from "../vendor/parameters.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";

export const scrollOperations: readonly Operation<SearchTwin>[] = [
  ...(["POST", "GET"] as const).flatMap((method) =>
    ["/_search/scroll", "/_search/scroll/:id"].map((path) =>
      api({
        id: "scroll",
        method,
        path,
        summary: "The next page of a scroll.",
        parameters: ["scroll", "scroll_id", "rest_total_hits_as_int"],
        handle: next,
      }),
    ),
  ),
  ...["/_search/scroll", "/_search/scroll/:id"].map((path) =>
    api({
      id: "scroll.clear",
      method: "DELETE",
      path,
      summary: "Ends scrolls.",
      parameters: ["scroll_id"],
      handle: clear,
    }),
  ),
  api({
    id: "pit.open",
    method: "POST",
    path: "/:index/_pit",
    summary: "Opens a point in time: a snapshot without later writes.",
    parameters: [
      ...expressionParameters,
      "keep_alive",
      "preference",
      "routing",
      "allow_partial_search_results",
    ],
    handle: openPointInTime,
  }),
  api({
    id: "pit.close",
    method: "DELETE",
    path: "/_pit",
    summary: "Closes a point in time.",
    handle: closePointInTime,
  }),
];

/** Starts a scroll and answers with its first page. */
export async function startScroll(
  call: Call,
  twin: SearchTwin,
  request: SearchRequest,
  scope: SearchScope,
): Promise<object> {
  const keepAliveMs = readDurationMs(call.parameters.text("scroll") ?? "", "scroll");
  const problems = [
    ...(request.from > 0 ? ["using [from] is not allowed in a scroll context"] : []),
    ...(request.size === 0 ? ["[size] cannot be [0] in a scroll context"] : []),
    ...(request.searchAfter ? ["`search_after` cannot be used in a scroll context"] : []),
    ...(request.pit ? ["using [point in time] is not allowed in a scroll context"] : []),
    ...(request.collapse ? ["cannot use `collapse` in a scroll context"] : []),
  ];
  if (problems.length > 0) throw invalidRequest(problems);
  request.countUpTo = Number.POSITIVE_INFINITY;
  const scroll: Scroll = { request, scope: await snapshot(scope, twin), after: undefined };
  const page = await readPage(scroll, call, twin);
  return { _scroll_id: twin.open.scrolls.add(scroll, keepAliveMs), ...page };
}

async function readPage(scroll: Scroll, call: Call, twin: SearchTwin): Promise<object> {
  const { request, scope, after } = scroll;
  const typedKeys = call.parameters.flag("typed_keys") ?? false;
  const result = await runSearch(request, scope, await call.openSearch(twin), {
    typedKeys,
    paging: { after },
  });
  scroll.after = result.last ?? scroll.after;
  // Only the first page has aggregations.
  scroll.request = { ...request, aggregations: undefined };
  const totalAsNumber = call.parameters.flag("rest_total_hits_as_int") ?? false;
  return searchBody(result, request, { totalAsNumber });
}

async function next(call: Call, twin: SearchTwin): Promise<Answer> {
  const { id, keepAliveMs } = readNext(call);
  const scroll = twin.open.scrolls.find(id, keepAliveMs);
  if (!scroll) throw contextMissing(id);
  return { body: { _scroll_id: id, ...(await readPage(scroll, call, twin)) } };
}

function readNext(call: Call): { id: string; keepAliveMs: number | undefined } {
  const { scroll_id, scroll } = bodyOf(call);
  const id = scroll_id ?? call.parameters.text("scroll_id") ?? call.request.params.id;
  if (typeof id !== "string" || id === "") throw invalidRequest(["scrollId is missing"]);
  const time = scroll ?? call.parameters.text("scroll");
  return { id, keepAliveMs: time === undefined ? undefined : readDurationMs(time, "scroll") };
}

function clear(call: Call, twin: SearchTwin): Answer {
  const { scroll_id } = bodyOf(call);
  const given = scroll_id ?? call.parameters.text("scroll_id") ?? call.request.params.id;
  if (given === undefined) throw invalidRequest(["no scroll ids specified"]);
  const ids = Array.isArray(given) ? given : given.split(",");
  const { scrolls } = twin.open;
  const freed = ids.includes("_all") ? scrolls.clear() : ids.filter((id) => scrolls.delete(id)).length;
  return { status: freed > 0 ? 200 : 404, body: { succeeded: true, num_freed: freed } };
}

interface ScrollBody {
  scroll_id: string | string[] | undefined;
  scroll: string | undefined;
}

/** Older clients send the bare id instead of a JSON body. @throws VendorError */
function bodyOf(call: Call): ScrollBody {
  const text = call.text().trim();
  if (text !== "" && !text.startsWith("{")) return { scroll_id: text, scroll: undefined };
  const { scroll_id, scroll } = call.object();
  if (scroll !== undefined && typeof scroll !== "string") throw wrongTypeError("scroll", scroll);
  if (scroll_id === undefined || typeof scroll_id === "string") return { scroll_id, scroll };
  if (Array.isArray(scroll_id) && scroll_id.every((id) => typeof id === "string"))
    return { scroll_id, scroll };
  throw wrongTypeError("scroll_id", scroll_id);
}

function wrongTypeError(name: string, value: unknown): VendorError {
  const token = tokenOf(value);
  return illegalArgument(
    `Unknown parameter [${name}] in request body or parameter is of the wrong type[${token}] `,
  );
}

async function openPointInTime(call: Call, twin: SearchTwin): Promise<Answer> {
  const keepAliveMs = call.parameters.durationMs("keep_alive");
  if (keepAliveMs === undefined) throw invalidRequest(["[keep_alive] is not specified"]);
  call.object();
  const scope = await scopeOf(call.segment("index"), readExpressionOptions(call.parameters), twin);
  const id = twin.open.pointsInTime.add(await snapshot(scope, twin), keepAliveMs);
  return { body: { id, _shards: searchShards(scope.selection.names.length) } };
}

function closePointInTime(call: Call, twin: SearchTwin): Answer {
  const { id } = call.object();
  if (typeof id !== "string") throw invalidRequest(["[id] is not specified"]);
  const freed = twin.open.pointsInTime.delete(id) ? 1 : 0;
  return { status: freed > 0 ? 200 : 404, body: { succeeded: freed > 0, num_freed: freed } };
}

/** The scope of a search's point in time. @throws VendorError */
export function pointInTimeScope(
  call: Call,
  twin: SearchTwin,
  { pit }: SearchRequest,
): SearchScope | undefined {
  if (!pit) return undefined;
  if (call.segment("index") !== "") {
    throw invalidRequest([
      "[indices] cannot be used with point in time. Do not specify any index with point in time.",
    ]);
  }
  const scope = twin.open.pointsInTime.find(pit.id, pit.keepAliveMs);
  if (!scope) throw contextMissing(pit.id);
  return scope;
}

/** Freezes a scope at the last row written so far: row numbers grow and are never reused. */
async function snapshot(scope: SearchScope, twin: SearchTwin): Promise<SearchScope> {
  const store = await twin.store();
  const { rows } = await store.query(raw("SELECT coalesce(max(_row), -1) FROM documents"));
  const last = rows[0]?.[0];
  if (typeof last !== "number")
    throw new VendorError(500, { type: "exception", reason: "the store counts no rows" });
  return { ...scope, upToRow: BigInt(last) };
}

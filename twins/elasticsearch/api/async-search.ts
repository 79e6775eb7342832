/**
 * Async searches.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/async-search.html
 */

import type { Operation } from "@offhook/platform/http/operation";
import { expressionParameters, readExpressionOptions } from "../indices/expression.ts";
import { Double } from "../json/numbers.ts";
import { scopeOf } from "../search/context.ts";
import type { AsyncSearch } from "../search/open-searches.ts";
import { readSearchBody } from "../search/request.ts";
import { runSearch } from "../search/run.ts";
import { searchBody } from "../search/search-body.ts";
import { readSearchParameters, searchParameters } from "../search/url-parameters.ts";
import type { SearchTwin } from "../search-twin.ts";
import { VendorError, vendorErrorResponse } from "../vendor/error.ts";
import { searchShards } from "../vendor/node.ts";
import { type Answer, api, asVendorError } from "./answer.ts";
import type { Call } from "./call.ts";
import { spreadParameters } from "./search.ts";

const parameters = [
  ...searchParameters,
  ...expressionParameters,
  ...spreadParameters,
  "keep_alive",
  "keep_on_completion",
  "wait_for_completion_timeout",
  "rest_total_hits_as_int",
  "typed_keys",
];

const DEFAULT_WAIT_MS = 1000;
const DEFAULT_KEEP_MS = 5 * 86_400_000;
/** Upper bound of `keep_alive`. */
const MAX_KEEP_MS = 86_400_000;

export const asyncSearchOperations: readonly Operation<SearchTwin>[] = [
  ...["/_async_search", "/:index/_async_search"].map((path) =>
    api({
      id: "async-search.submit",
      method: "POST",
      path,
      summary: "Starts a search; answers with its state if it is not done in time.",
      parameters,
      handle: submit,
    }),
  ),
  api({
    id: "async-search.get",
    method: "GET",
    path: "/_async_search/:id",
    summary: "State and result of an async search.",
    parameters: ["wait_for_completion_timeout", "keep_alive", "typed_keys", "rest_total_hits_as_int"],
    async handle(call, twin) {
      const id = call.segment("id");
      const search = find(id, twin);
      const waitMs = call.parameters.durationMs("wait_for_completion_timeout") ?? 0;
      if (search.completedMs === undefined) await waitUpTo(search.done, waitMs);
      return answerOf(id, search);
    },
  }),
  api({
    id: "async-search.status",
    method: "GET",
    path: "/_async_search/status/:id",
    summary: "State of an async search.",
    parameters: ["keep_alive"],
    handle: (call, twin) => {
      const id = call.segment("id");
      const search = find(id, twin);
      const { startedMs, expiresMs, completedMs, failure } = search;
      return {
        body: {
          id,
          is_running: completedMs === undefined,
          is_partial: completedMs === undefined || failure !== undefined,
          start_time_in_millis: startedMs,
          expiration_time_in_millis: expiresMs,
          ...(completedMs === undefined ? {} : { completion_time_in_millis: completedMs }),
          _shards: searchShards(1),
          ...(completedMs === undefined ? {} : { completion_status: failure?.status ?? 200 }),
        },
      };
    },
  }),
  api({
    id: "async-search.delete",
    method: "DELETE",
    path: "/_async_search/:id",
    summary: "Cancels an async search and deletes its result.",
    handle: (call, twin) => {
      const id = call.segment("id");
      find(id, twin).cancel();
      twin.open.asyncSearches.delete(id);
      return { body: { acknowledged: true } };
    },
  }),
];

async function submit(call: Call, twin: SearchTwin): Promise<Answer> {
  const body = readSearchBody(call.object(), { text: call.text(), fidelity: twin.fidelity });
  const request = readSearchParameters(call.parameters, body);
  const scope = await scopeOf(call.segment("index"), readExpressionOptions(call.parameters), twin);
  const typedKeys = call.parameters.flag("typed_keys") ?? false;
  const cancelling = new AbortController();
  const startedMs = Math.floor(twin.clock.now());
  const keepMs = Math.min(call.parameters.durationMs("keep_alive") ?? DEFAULT_KEEP_MS, MAX_KEEP_MS);
  const search: AsyncSearch = {
    startedMs,
    expiresMs: startedMs + keepMs,
    answer: undefined,
    failure: undefined,
    completedMs: undefined,
    done: Promise.resolve(),
    cancel: () => cancelling.abort(),
  };
  const context = await call.openSearch(twin, cancelling.signal);
  search.done = runSearch(request, scope, context, { typedKeys })
    .then((result) => {
      search.answer = searchBody(result, request);
    })
    .catch((error: unknown) => {
      const { status, body } = vendorErrorResponse(knownError(error, twin));
      search.failure = { status, body: typeof body === "object" && body !== null ? body : {} };
    })
    .finally(() => {
      search.completedMs = Math.floor(twin.clock.now());
    });
  const waitMs = call.parameters.durationMs("wait_for_completion_timeout") ?? DEFAULT_WAIT_MS;
  await waitUpTo(search.done, waitMs);
  const kept = search.completedMs === undefined || call.parameters.flag("keep_on_completion");
  return answerOf(kept ? twin.open.asyncSearches.add(search, keepMs) : undefined, search);
}

function knownError(error: unknown, twin: SearchTwin): VendorError {
  try {
    return asVendorError(error);
  } catch {
    twin.log.error({ err: error }, "an async search failed");
    return new VendorError(500, { type: "exception", reason: "the twin failed; its log says why" });
  }
}

async function waitUpTo(done: Promise<void>, waitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, waitMs);
  });
  await Promise.race([done, waited]);
  clearTimeout(timer);
}

function find(id: string, twin: SearchTwin): AsyncSearch {
  const search = twin.open.asyncSearches.find(id);
  if (search) return search;
  throw new VendorError(404, { type: "resource_not_found_exception", reason: id });
}

function answerOf(id: string | undefined, search: AsyncSearch): Answer {
  const { startedMs, expiresMs, completedMs, failure } = search;
  const running = completedMs === undefined;
  const response = search.answer ?? {
    took: 0,
    timed_out: false,
    terminated_early: false,
    _shards: { total: 1, successful: 0, skipped: 0, failed: failure ? 1 : 0 },
    hits: { total: { value: 0, relation: "gte" }, max_score: failure ? new Double(0) : null, hits: [] },
  };
  return {
    status: failure?.status ?? 200,
    body: {
      ...(id === undefined ? {} : { id }),
      is_partial: running || failure !== undefined,
      is_running: running,
      start_time_in_millis: startedMs,
      expiration_time_in_millis: expiresMs,
      ...(running ? {} : { completion_time_in_millis: completedMs }),
      response,
      ...(failure && "error" in failure.body ? { error: failure.body.error } : {}),
    },
  };
}

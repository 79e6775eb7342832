/** Delete by query and update by query. */

import type { FieldCatalog } from "@offhook/log-store/fields";
import { joined, type Sql, sql } from "@offhook/log-store/sql";
import type { Operation } from "@offhook/platform/http/operation";
import { type Action, isFailed } from "../documents/action.ts";
import { expressionParameters, readExpressionOptions } from "../indices/expression.ts";
import { Float } from "../json/numbers.ts";
import { showSql } from "../query/show-sql.ts";
import { compileRequested, indexPredicate } from "../search/compile-search.ts";
import { narrow, scopeOf } from "../search/context.ts";
import { readUrlQuery, urlQueryParameters } from "../search/url-parameters.ts";
import type { SearchTwin } from "../search-twin.ts";
import { illegalArgument } from "../vendor/error.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";

const parameters = [
  ...expressionParameters,
  ...urlQueryParameters,
  "conflicts",
  "from",
  "max_docs",
  "pipeline",
  "preference",
  "refresh",
  "request_cache",
  "requests_per_second",
  "routing",
  "scroll",
  "scroll_size",
  "search_timeout",
  "search_type",
  "slices",
  "sort",
  "stats",
  "terminate_after",
  "timeout",
  "version",
  "wait_for_active_shards",
  "wait_for_completion",
];

/** Bounds memory: all documents of one request are held at once. */
const MAX_DOCUMENTS = 100_000;

export const byQueryOperations: readonly Operation<SearchTwin>[] = [
  api({
    id: "delete-by-query",
    method: "POST",
    path: "/:index/_delete_by_query",
    summary: "Removes the documents that a query matches.",
    parameters,
    handle: (call, twin) => change(call, twin, "delete"),
  }),
  api({
    id: "update-by-query",
    method: "POST",
    path: "/:index/_update_by_query",
    summary: "Rewrites the documents that a query matches, unchanged.",
    parameters,
    handle: (call, twin) => change(call, twin, "index"),
  }),
  api({
    id: "reindex",
    method: "POST",
    path: "/_reindex",
    summary: "Refused: this twin copies no indices.",
    parameters: ["refresh", "slices", "wait_for_completion", "requests_per_second", "max_docs", "timeout"],
    handle: () => {
      throw illegalArgument("This twin copies no indices: [_reindex] is not supported");
    },
  }),
];

async function change(call: Call, twin: SearchTwin, kind: "delete" | "index"): Promise<Answer> {
  const startedAt = performance.now();
  const { query, max_docs, conflicts: _, sort: _sort, script, slice, ...rest } = call.object();
  if (script !== undefined) throw illegalArgument("This twin runs no scripts: [script] is not supported");
  if (slice !== undefined)
    throw illegalArgument("This twin does not slice searches: [slice] is not supported");
  for (const name of Object.keys(rest)) throw illegalArgument(`request does not support [${name}]`);
  if (call.parameters.flag("wait_for_completion") === false) {
    throw illegalArgument("This twin runs no tasks in the background: [wait_for_completion] must be true");
  }
  const urlQuery = readUrlQuery(call.parameters);
  if (kind === "delete" && query === undefined && urlQuery === undefined)
    throw illegalArgument("query is missing");
  const scope = await scopeOf(call.segment("index"), readExpressionOptions(call.parameters), twin, "write");
  const search = await call.openSearch(twin);
  const context = narrow(search, scope);
  const indices = indexPredicate(scope.selection);
  const maxDocs =
    call.parameters.integer("max_docs") ?? (typeof max_docs === "number" ? max_docs : undefined);
  const compileFor = async (fields: FieldCatalog) => {
    const current = { ...context.query, ...twin.fieldViews.of(fields, scope.selection) };
    const compiled = await compileRequested(urlQuery, query, { ...context, query: current });
    return matchingDocuments(
      joined([compiled.predicate, ...(indices ? [indices] : [])], " AND "),
      Math.min(maxDocs ?? MAX_DOCUMENTS + 1, MAX_DOCUMENTS + 1),
    );
  };
  const { fields } = search.query;
  const compiled = await compileFor(fields);
  const outcomes = await twin.documents.performQueried(async (reader) => {
    // Writers that ran before this one may have changed the type of a column.
    const statement = reader.fields === fields ? compiled : await compileFor(reader.fields);
    call.notes.addSql([showSql(statement)]);
    const { rows } = await reader.query(statement, { signal: call.signal });
    if (rows.length > MAX_DOCUMENTS) {
      throw illegalArgument(`more than ${MAX_DOCUMENTS} documents match; set [max_docs], or ask for fewer`);
    }
    return rows.map(([index, id, source]): Action => {
      const place = {
        index: String(index),
        id: String(id),
        conditions: { versionType: "internal" } as const,
      };
      return kind === "delete" ? { kind, ...place } : { kind, ...place, source: String(source) };
    });
  });
  const failures = outcomes.filter(isFailed).map(({ index, id, error }) => ({
    index,
    id,
    cause: error.cause,
    status: error.status,
  }));
  const done = outcomes.length - failures.length;
  return {
    status: failures[0]?.status ?? 200,
    body: {
      took: Math.round(performance.now() - startedAt),
      timed_out: false,
      total: outcomes.length,
      ...(kind === "index" ? { updated: done } : {}),
      deleted: kind === "delete" ? done : 0,
      batches: Math.ceil(outcomes.length / 1000),
      // The search and the change share one turn of the writer, so no version can change between them.
      version_conflicts: 0,
      noops: 0,
      retries: { bulk: 0, search: 0 },
      throttled_millis: 0,
      requests_per_second: new Float(-1),
      throttled_until_millis: 0,
      failures,
    },
  };
}

function matchingDocuments(predicate: Sql, limit: number): Sql {
  return sql`SELECT _index, _id, _source FROM documents AS d WHERE ${predicate} ORDER BY _row LIMIT ${BigInt(limit)}`;
}

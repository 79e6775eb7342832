/**
 * ES|QL.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/esql-apis.html
 */

import { withCurrentFields } from "@offhook/log-store/store/store-reader";
import type { RunStatement } from "@offhook/log-store/translator/translator";
import type { Operation } from "@offhook/platform/http/operation";
import { waitForResult } from "../esql/async-queries.ts";
import { UnrecognisedEsql } from "../esql/errors.ts";
import { type EsqlBody, readAsyncRequest, readSyncRequest } from "../esql/request.ts";
import type { EsqlContext, EsqlResult } from "../esql/run.ts";
import type { Selection } from "../indices/expression.ts";
import { aliasTargets, knownIndices } from "../indices/index-registry.ts";
import { locateIn } from "../json/position.ts";
import { compactJson } from "../json/write.ts";
import { compileQuery } from "../query/compile.ts";
import { UnrecognisedQuery } from "../query/errors.ts";
import { translate, withModelHint } from "../search/translate.ts";
import type { SearchTwin } from "../search-twin.ts";
import { VendorError } from "../vendor/error.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import { answerOf, checkForm } from "./esql-answer.ts";

/** URL parameters that shape the result. */
const shapeParameters = ["delimiter", "drop_null_columns"];

export const esqlOperations: readonly Operation<SearchTwin>[] = [
  api({
    id: "esql.query",
    method: "POST",
    path: "/_query",
    summary: "Runs an ES|QL query.",
    parameters: shapeParameters,
    async handle(call, twin) {
      checkForm(call);
      const body = readSyncRequest(call.text());
      return answerOf(call, await run(call, twin, body, call.signal), body);
    },
  }),
  api({
    id: "esql.async_query",
    method: "POST",
    path: "/_query/async",
    summary: "Starts an ES|QL query; answers with its result if it is done in time.",
    parameters: shapeParameters,
    async handle(call, twin) {
      checkForm(call);
      const body = readAsyncRequest(call.text());
      const queries = twin.esqlQueries;
      const started = queries.start(
        async (signal) => ({ body, result: await run(call, twin, body, signal) }),
        twin.clock.now() + body.keepAliveMs,
      );
      const { waitMs, keepOnCompletion: keep } = body;
      return answerAsync(call, twin, { id: started.id, waitMs, keep });
    },
  }),
  api({
    id: "esql.async_query_get",
    method: "GET",
    path: "/_query/async/:id",
    summary: "The result of an asynchronous ES|QL query.",
    parameters: [...shapeParameters, "keep_alive", "wait_for_completion_timeout"],
    handle(call, twin) {
      const query = twin.esqlQueries.get(call.segment("id"), twin.clock.now());
      const keepAliveMs = call.parameters.durationMs("keep_alive");
      if (keepAliveMs !== undefined) query.expiresAtMs = twin.clock.now() + keepAliveMs;
      const waitMs = call.parameters.durationMs("wait_for_completion_timeout") ?? 0;
      return answerAsync(call, twin, { id: query.id, waitMs, keep: true });
    },
  }),
  api({
    id: "esql.async_query_delete",
    method: "DELETE",
    path: "/_query/async/:id",
    summary: "Cancels an asynchronous ES|QL query and deletes its result.",
    handle(call, twin) {
      const queries = twin.esqlQueries;
      queries.remove(queries.get(call.segment("id"), twin.clock.now()).id);
      return { body: { acknowledged: true } };
    },
  }),
];

/**
 * Answers with the result, or with the state of a query that is still running. @param keep whether the finished result
 * stays available
 */
async function answerAsync(
  call: Call,
  twin: SearchTwin,
  { id, waitMs, keep }: { id: string; waitMs: number; keep: boolean },
): Promise<Answer> {
  const queries = twin.esqlQueries;
  const query = queries.get(id, twin.clock.now());
  try {
    const done = await waitForResult(query, waitMs);
    const headers = {
      "x-elasticsearch-async-id": id,
      "x-elasticsearch-async-is-running": done ? "?0" : "?1",
    };
    if (!done) return { body: { id, is_running: true }, headers };
    if (!keep) queries.remove(id);
    const lead = keep ? { id, is_running: false } : { is_running: false };
    const answer = answerOf(call, done.result, { ...done.body, lead });
    return keep ? { ...answer, headers: { ...answer.headers, ...headers } } : answer;
  } catch (error) {
    if (!keep) queries.remove(id);
    throw error;
  }
}

async function run(call: Call, twin: SearchTwin, body: EsqlBody, signal: AbortSignal): Promise<EsqlResult> {
  const result =
    twin.translatorOrder === "model-first"
      ? await runModelFirst(call, twin, body, signal)
      : await runCompilerFirst(call, twin, body, signal);
  call.notes.addSql(result.statements);
  return result;
}

/** The compiler first, then the model for what the compiler does not recognise. */
async function runCompilerFirst(
  call: Call,
  twin: SearchTwin,
  body: EsqlBody,
  signal: AbortSignal,
): Promise<EsqlResult> {
  try {
    return await runByCompiler(call, twin, body, signal);
  } catch (error) {
    if (!(error instanceof UnrecognisedEsql || error instanceof UnrecognisedQuery)) throw error;
    if (!twin.translator) throw withModelHint(error, twin);
    return runByModel(call, twin, body, signal, withModelHint(error, twin));
  }
}

/** The model first, then the compiler for what the model has no answer to. */
async function runModelFirst(
  call: Call,
  twin: SearchTwin,
  body: EsqlBody,
  signal: AbortSignal,
): Promise<EsqlResult> {
  try {
    if (twin.translator) return await runByModel(call, twin, body, signal, declineTranslation());
  } catch (error) {
    if (!(error instanceof VendorError)) throw error;
  }
  return runByCompiler(call, twin, body, signal);
}

async function runByCompiler(
  call: Call,
  twin: SearchTwin,
  body: EsqlBody,
  signal: AbortSignal,
): Promise<EsqlResult> {
  const store = await twin.store();
  const { fidelity } = twin;
  const nowMs = twin.clock.now();
  const context: EsqlContext = {
    store,
    fidelity,
    nowMs,
    indices: await knownIndices(twin),
    aliases: await aliasTargets(twin),
    fieldViews: twin.fieldViews,
    signal,
  };
  const locate = locateIn(call.text(), ["filter"]);
  const filter = (selection: Selection) => {
    const [index = ""] = selection.names;
    const query = { ...twin.fieldViews.of(store.fields, selection), fidelity, nowMs, index, locate };
    const { predicate, dropped } = compileQuery(body.filter, query);
    call.notes.addDropped(dropped);
    return predicate;
  };
  const { query, params } = body;
  // Loaded by the first query, as it pulls in the whole compiler.
  const { runEsql } = await import("../esql/run.ts");
  const request = { query, params, filter: body.filter === undefined ? undefined : filter };
  return withCurrentFields(store, () => runEsql(request, context));
}

/** @param refusal thrown when no statement of the model runs */
async function runByModel(
  call: Call,
  twin: SearchTwin,
  body: EsqlBody,
  signal: AbortSignal,
  refusal: VendorError,
): Promise<EsqlResult> {
  const { translator } = twin;
  if (!translator) throw new Error("there is no translator to ask");
  const store = await twin.store();
  const text = questionOf(body);
  const question = { language: "esql" as const, text, store, nowMs: twin.clock.now(), signal };
  const { runTranslated } = await import("../esql/translated.ts");
  const run: RunStatement<EsqlResult> = (statement, until) => runTranslated(statement, store, until);
  return translate({ translator, question, run, refusal }, call.notes);
}

/** Never answered: it tells `modelFirst` that the compiler's turn has come. */
function declineTranslation(): VendorError {
  return new VendorError(400, { type: "verification_exception", reason: "the query is not translated" });
}

/** The question to the model: the query, its parameters and its filter. */
function questionOf({ query, params, filter }: EsqlBody): string {
  const lines = [query];
  if (params.length > 0) lines.push(`Its parameters, in order: ${JSON.stringify(params, withBigints)}`);
  if (filter !== undefined) lines.push(`Of the events that match this query alone: ${compactJson(filter)}`);
  return lines.join("\n");
}

function withBigints(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

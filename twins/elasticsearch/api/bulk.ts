/** Bulk ingest. */

import type { Operation } from "@offhook/platform/http/operation";
import { type Action, type Done, isFailed, type Outcome } from "../documents/action.ts";
import { type BulkItem, readBulkBody } from "../documents/bulk-body.ts";
import { invalidRequest } from "../documents/errors.ts";
import { checkId, checkSource } from "../documents/read-source.ts";
import { readUpdateBody } from "../documents/update-body.ts";
import { type AliasTargets, writeIndexOf } from "../indices/aliases.ts";
import { resolveDateMath } from "../indices/date-math-name.ts";
import { checkIndexName } from "../indices/errors.ts";
import { aliasTargets } from "../indices/index-registry.ts";
import { sourceParameters } from "../search/source-filter.ts";
import type { SearchTwin } from "../search-twin.ts";
import { VendorError } from "../vendor/error.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import { checkPipeline, doneBody, requireAliasError } from "./document-answer.ts";

const parameters = [
  "refresh",
  "routing",
  "pipeline",
  "timeout",
  "wait_for_active_shards",
  ...sourceParameters,
  "require_alias",
  "require_data_stream",
  "list_executed_pipelines",
  "include_source_on_error",
];

export const bulkOperations: readonly Operation<SearchTwin>[] = (["POST", "PUT"] as const).flatMap(
  (method) => [
    api({
      id: "bulk",
      method,
      path: "/_bulk",
      summary: "Writes many documents; each action has its own outcome.",
      parameters,
      handle: bulk,
    }),
    api({
      id: "bulk",
      method,
      path: "/:index/_bulk",
      summary: "Writes many documents, into this index unless an action names another.",
      parameters,
      handle: bulk,
    }),
  ],
);

/** An action still to run, or one whose outcome is already known. */
type Step = { action: Action } | { outcome: Outcome };

async function bulk(call: Call, twin: SearchTwin): Promise<Answer> {
  const startedAt = performance.now();
  if (call.request.body.length === 0) {
    throw new VendorError(400, { type: "parse_exception", reason: "request body is required" });
  }
  const items = readBulkBody(call.request.body);
  checkItems(items, call.segment("index"));
  const aliases = await aliasTargets(twin);
  const steps = items.map((item) => stepOf(item, call, { twin, aliases }));
  const actions = steps.flatMap((step) => ("action" in step ? [step.action] : []));
  const carriedOut = (await twin.documents.perform(actions))[Symbol.iterator]();
  const refreshed = call.parameters.text("refresh");
  let errors = false;
  const shown = steps.map((step, number) => {
    const outcome = "outcome" in step ? step.outcome : carriedOut.next().value;
    const item = items[number];
    if (!outcome || !item) throw new Error("an action has no outcome");
    if (isFailed(outcome)) errors = true;
    return { [item.kind]: showItem(outcome, refreshed) };
  });
  return { body: { errors, took: Math.round(performance.now() - startedAt), items: shown } };
}

function checkItems(items: readonly BulkItem[], ofUrl: string): void {
  if (items.length === 0) throw invalidRequest(["no requests added"]);
  const problems = items.flatMap(({ kind, index, id, conditions }) => [
    ...((index ?? ofUrl) === "" ? ["index is missing"] : []),
    ...((kind === "delete" || kind === "update") && id === undefined ? ["id is missing"] : []),
    ...(conditions.version !== undefined && conditions.versionType === "internal"
      ? [
          "internal versioning can not be used for optimistic concurrency control. Please use `if_seq_no` and `if_primary_term` instead",
        ]
      : []),
  ]);
  if (problems.length > 0) throw invalidRequest(problems);
}

function stepOf(
  item: BulkItem,
  call: Call,
  { twin, aliases }: { twin: SearchTwin; aliases: AliasTargets },
): Step {
  const named = item.index ?? call.segment("index");
  try {
    checkPipeline(item.pipeline ?? call.parameters.text("pipeline"));
    const index = resolveDateMath(named, twin.clock.now());
    checkIndexName(index);
    const mustBeAlias = item.requireAlias || call.parameters.flag("require_alias");
    if (mustBeAlias && !aliases.has(index)) throw requireAliasError(index);
    return readStep(item, writeIndexOf(index, aliases), twin);
  } catch (error) {
    if (!(error instanceof VendorError)) throw error;
    return { outcome: { index: named, id: item.id, error } };
  }
}

function readStep({ kind, id, conditions, source }: BulkItem, index: string, twin: SearchTwin): Step {
  if (kind === "index" || kind === "create") {
    const given = id === undefined ? undefined : checkId(id);
    return { action: { kind, index, id: given, conditions, source: checkSource(source) } };
  }
  const place = { index, id: checkId(id ?? "") };
  if (twin.fidelity === "specification") {
    // The specification's rule: these two are acknowledged without effect.
    return { outcome: { ...place, version: 2, seqNo: 0, result: kind === "delete" ? "deleted" : "updated" } };
  }
  if (kind === "delete") return { action: { kind, ...place, conditions } };
  const { doc, upsert, detectNoop } = readUpdateBody(source);
  return { action: { kind, ...place, conditions, doc, upsert, detectNoop } };
}

function showItem(outcome: Outcome, refreshed: string | undefined): object {
  if (isFailed(outcome)) {
    const { index, id, error } = outcome;
    return { _index: index, _id: id ?? null, status: error.status, error: error.cause };
  }
  return { ...doneBody(outcome, refreshed), status: statusOf(outcome) };
}

function statusOf({ result }: Done): number {
  return result === "created" ? 201 : result === "not_found" ? 404 : 200;
}

/** Single documents: index, get, delete, update. */

import type { Method, Operation } from "@offhook/platform/http/operation";
import type { Action, Conditions, Done } from "../documents/action.ts";
import { isFailed } from "../documents/action.ts";
import { readVersionType } from "../documents/bulk-body.ts";
import { invalidRequest, versionConflict } from "../documents/errors.ts";
import { checkId, checkSource } from "../documents/read-source.ts";
import { placeKey, readDocuments, type StoredDocument } from "../documents/stored.ts";
import { readUpdateBody } from "../documents/update-body.ts";
import { readIndexOf, writeIndexOf } from "../indices/aliases.ts";
import { resolveDateMath } from "../indices/date-math-name.ts";
import { checkIndexName, noSuchIndex } from "../indices/errors.ts";
import { aliasTargets, knownIndices } from "../indices/index-registry.ts";
import { readJson } from "../json/read.ts";
import { compactJson } from "../json/write.ts";
import {
  filterSource,
  readSourceParameters,
  sourceFilterOf,
  sourceParameters,
  wholeSource,
} from "../search/source-filter.ts";
import type { SearchTwin } from "../search-twin.ts";
import { illegalArgument, VendorError } from "../vendor/error.ts";
import { type Answer, api } from "./answer.ts";
import type { Call } from "./call.ts";
import { checkPipeline, doneBody, foundBody, gotBody, requireAliasError } from "./document-answer.ts";

const writeParameters = [
  "refresh",
  "routing",
  "timeout",
  "version",
  "version_type",
  "if_seq_no",
  "if_primary_term",
  "wait_for_active_shards",
  "op_type",
  "pipeline",
  "require_alias",
  "require_data_stream",
  "include_source_on_error",
];

/** URL parameters of reading one document or many. */
export const readParameters = [
  ...sourceParameters,
  "preference",
  "realtime",
  "refresh",
  "routing",
  "stored_fields",
  "force_synthetic_source",
];

const readOneParameters = [...readParameters, "version", "version_type"];

const updateParameters = [...writeParameters, ...sourceParameters, "lang", "retry_on_conflict"];

type Write = (call: Call, twin: SearchTwin) => Promise<Answer>;

function writing(id: string, method: Method, path: string, summary: string, handle: Write) {
  return api({ id, method, path, summary, parameters: writeParameters, handle });
}

const indexed = "Indexes a document under an id, or replaces the one that is there.";
const created = "Indexes a document under an id that is not taken.";

export const documentOperations: readonly Operation<SearchTwin>[] = [
  writing("document.index", "POST", "/:index/_doc", "Indexes a document under an id of its own.", index),
  writing("document.index", "PUT", "/:index/_doc/:id", indexed, index),
  writing("document.index", "POST", "/:index/_doc/:id", indexed, index),
  writing("document.create", "PUT", "/:index/_create/:id", created, create),
  writing("document.create", "POST", "/:index/_create/:id", created, create),
  writing("document.delete", "DELETE", "/:index/_doc/:id", "Removes a document.", remove),
  api({
    id: "document.update",
    method: "POST",
    path: "/:index/_update/:id",
    summary: "Merges a part into a document.",
    parameters: updateParameters,
    handle: update,
  }),
  api({
    id: "document.get",
    method: "GET",
    path: "/:index/_doc/:id",
    summary: "A document by its id.",
    parameters: readOneParameters,
    handle: get,
  }),
  api({
    id: "source.get",
    method: "GET",
    path: "/:index/_source/:id",
    summary: "The source of a document.",
    parameters: readOneParameters,
    handle: getSource,
  }),
];

async function index(call: Call, twin: SearchTwin): Promise<Answer> {
  const type = call.parameters.text("op_type") ?? "index";
  if (type !== "index" && type !== "create") {
    throw illegalArgument(`opType must be 'create' or 'index', found: [${type}]`);
  }
  return store(call, twin, type);
}

function create(call: Call, twin: SearchTwin): Promise<Answer> {
  return store(call, twin, "create");
}

async function store(call: Call, twin: SearchTwin, kind: "index" | "create"): Promise<Answer> {
  const name = await writeIndex(call, twin);
  checkPipeline(call.parameters.text("pipeline"));
  const id = call.request.params.id;
  const conditions = readConditions(call, kind);
  if (call.text() === "") {
    throw new VendorError(400, { type: "parse_exception", reason: "request body is required" });
  }
  const source = checkSource(call.text());
  const given = id === undefined ? undefined : checkId(id);
  const done = await perform({ kind, index: name, id: given, source, conditions }, twin);
  const location = `/${encodeURIComponent(done.index)}/_doc/${encodeURIComponent(done.id)}`;
  return {
    status: done.result === "created" ? 201 : 200,
    headers: done.result === "created" ? { location } : {},
    body: doneBody(done, call.parameters.text("refresh")),
  };
}

async function remove(call: Call, twin: SearchTwin): Promise<Answer> {
  const name = await writeIndex(call, twin);
  const conditions = readConditions(call, "delete");
  if (!(await knownIndices(twin)).includes(name)) throw noSuchIndex(name);
  const done = await perform({ kind: "delete", index: name, id: call.segment("id"), conditions }, twin);
  return {
    status: done.result === "not_found" ? 404 : 200,
    body: doneBody(done, call.parameters.text("refresh")),
  };
}

async function update(call: Call, twin: SearchTwin): Promise<Answer> {
  const name = await writeIndex(call, twin);
  const { source, ifSeqNo, ifPrimaryTerm, ...body } = readUpdateBody(call.text());
  const conditions = {
    ...readConditions(call, "update"),
    ...(ifSeqNo === undefined ? {} : { ifSeqNo }),
    ...(ifPrimaryTerm === undefined ? {} : { ifPrimaryTerm }),
  };
  const id = checkId(call.segment("id"));
  const done = await perform({ kind: "update", index: name, id, conditions, ...body }, twin);
  const ofBody = source === undefined ? undefined : sourceFilterOf(readJson(compactJson(source)));
  const filter = readSourceParameters(call.parameters) ?? ofBody;
  const shown = filter && filter.kind !== "none" && done.source !== undefined;
  return {
    status: done.result === "created" ? 201 : 200,
    body: {
      ...doneBody(done, call.parameters.text("refresh")),
      ...(shown
        ? {
            get: gotBody({ seqNo: done.seqNo, source: done.source ?? "{}" }, filter),
          }
        : {}),
    },
  };
}

async function get(call: Call, twin: SearchTwin): Promise<Answer> {
  const place = { index: await readIndex(call, twin), id: call.segment("id") };
  const document = await find(call, twin);
  if (!document) return { status: 404, body: { _index: place.index, _id: place.id, found: false } };
  const stored = call.parameters.list("stored_fields");
  const fallback = stored && !stored.includes("_source") ? ({ kind: "none" } as const) : wholeSource;
  return { body: foundBody(document, readSourceParameters(call.parameters) ?? fallback) };
}

async function getSource(call: Call, twin: SearchTwin): Promise<Answer> {
  const document = await find(call, twin);
  if (!document) {
    const reason = `Document not found [${call.segment("index")}]/[${call.segment("id")}]`;
    throw new VendorError(404, { type: "resource_not_found_exception", reason });
  }
  return { body: filterSource(document.source, readSourceParameters(call.parameters) ?? wholeSource) };
}

async function find(call: Call, twin: SearchTwin): Promise<StoredDocument | undefined> {
  const place = { index: await readIndex(call, twin), id: call.segment("id") };
  if (!(await knownIndices(twin)).includes(place.index)) throw noSuchIndex(place.index);
  const found = await readDocuments(await twin.store(), [place]);
  const document = found.get(placeKey(place));
  const version = call.parameters.long("version");
  if (document && version !== undefined && BigInt(document.version) !== version) {
    const why = `current version [${document.version}] is different than the one provided [${version}]`;
    throw versionConflict(place.index, place.id, why);
  }
  return document;
}

async function perform(action: Action, twin: SearchTwin): Promise<Done> {
  const [outcome] = await twin.documents.perform([action]);
  if (!outcome) throw new Error("an action has no outcome");
  if (isFailed(outcome)) throw outcome.error;
  return outcome;
}

/** The index to write to, date math resolved. @throws VendorError */
async function writeIndex(call: Call, twin: SearchTwin): Promise<string> {
  const name = readIndexName(call, twin);
  const aliases = await aliasTargets(twin);
  if (call.parameters.flag("require_alias") && !aliases.has(name)) throw requireAliasError(name);
  return writeIndexOf(name, aliases);
}

/** The index to read a document from. @throws VendorError */
async function readIndex(call: Call, twin: SearchTwin): Promise<string> {
  return readIndexOf(readIndexName(call, twin), await aliasTargets(twin));
}

function readIndexName(call: Call, twin: SearchTwin): string {
  const name = resolveDateMath(call.segment("index"), twin.clock.now());
  checkIndexName(name);
  return name;
}

function readConditions({ parameters }: Call, kind: Action["kind"]): Conditions {
  const version = parameters.long("version");
  const versionType = readVersionType(parameters.text("version_type") ?? "internal");
  const ifSeqNo = parameters.long("if_seq_no");
  const ifPrimaryTerm = parameters.long("if_primary_term");
  const problems: string[] = [];
  if (version !== undefined && versionType === "internal") {
    problems.push(
      "internal versioning can not be used for optimistic concurrency control. Please use `if_seq_no` and `if_primary_term` instead",
    );
  }
  if (kind === "create" && versionType !== "internal") {
    problems.push("create operations only support internal versioning. use index instead");
  }
  if (ifSeqNo !== undefined && ifPrimaryTerm === undefined) {
    problems.push("ifSeqNo is set, but primary term is [0]");
  }
  if (ifPrimaryTerm !== undefined && ifSeqNo === undefined) {
    problems.push(`ifSeqNo is unassigned, but primary term is [${ifPrimaryTerm}]`);
  }
  if (problems.length > 0) throw invalidRequest(problems);
  return {
    versionType,
    ...(version === undefined ? {} : { version: Number(version) }),
    ...(ifSeqNo === undefined ? {} : { ifSeqNo: Number(ifSeqNo) }),
    ...(ifPrimaryTerm === undefined ? {} : { ifPrimaryTerm: Number(ifPrimaryTerm) }),
  };
}

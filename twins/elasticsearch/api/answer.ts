/** The frame of every vendor route: request forms, URL parameters, response filters, errors and headers. */

import { OutOfMemory, QueryInterrupted, QueueFull, StoreFull } from "@offhook/log-store/store/log-store";
import type { Method, Operation, VendorRequest, VendorResponse } from "@offhook/platform/http/operation";
import { stringify } from "yaml";
import { indexBlocked } from "../documents/errors.ts";
import { type BodyFilter, readFilter } from "../json/filter-path.ts";
import { compactJson, prettyJson } from "../json/write.ts";
import type { SearchTwin } from "../search-twin.ts";
import { VendorError, vendorErrorResponse } from "../vendor/error.ts";
import { NODE_NAME } from "../vendor/node.ts";
import type { Parameters } from "../vendor/parameters.ts";
import { Call } from "./call.ts";
import { type AnswerForm, negotiate, PlainRefusal } from "./media-types.ts";

/** The vendor's `http.max_content_length`. */
const MAX_BODY_BYTES = 100 * 1024 * 1024;

export interface Answer {
  /** Default 200. */
  status?: number;
  /**
   * Text is sent as it is, under `contentType`; anything else as JSON or YAML, as the request asks; `undefined` sends
   * no body.
   */
  body?: unknown;
  contentType?: string;
  headers?: Record<string, string>;
}

export interface ApiDeclaration {
  id: string;
  method: Method;
  path: string;
  summary: string;
  /** URL parameters beyond the common ones. */
  parameters?: readonly string[];
  handle(call: Call, twin: SearchTwin): Answer | Promise<Answer>;
}

/** Declares one route of the vendor's API. */
export function api(declaration: ApiDeclaration): Operation<SearchTwin> {
  const { id, method, path, summary } = declaration;
  return {
    id,
    method,
    path,
    summary,
    surface: "rest",
    maxBodyBytes: MAX_BODY_BYTES,
    handle: (request, twin) => perform(request, twin, declaration),
  };
}

async function perform(
  request: VendorRequest,
  twin: SearchTwin,
  { handle, parameters = [] }: ApiDeclaration,
): Promise<VendorResponse> {
  const call = new Call(request);
  const response = await respond(call, async (output) => {
    call.parameters.check(request.path, parameters);
    return write(await handle(call, twin), output);
  });
  return {
    ...response,
    headers: { ...response.headers, ...commonHeaders(request) },
    ...(call.notes.entries && { notes: call.notes.entries }),
  };
}

/** The form of the answer. It is read before the route runs, because errors are written in it too. */
interface Output extends AnswerForm {
  pretty: boolean;
  stackTrace: boolean;
  filter: BodyFilter;
}

/** The form for a request whose own options are invalid. */
const PLAIN_OUTPUT: Output = {
  form: "json",
  contentType: "application/json",
  pretty: false,
  stackTrace: false,
  filter: readFilter([]),
};

/** @throws VendorError 400 for flags that are neither true nor false */
function readOutput({ request, parameters }: Call): Output {
  parameters.flag("human");
  return {
    ...negotiate(request),
    pretty: parameters.flag("pretty") ?? false,
    stackTrace: traceFlag(parameters),
    filter: readFilter(parameters.list("filter_path") ?? []),
  };
}

/**
 * An invalid `error_trace` gets a one-sentence refusal, because the form of error objects is what it decides. @throws
 * PlainRefusal
 */
function traceFlag(parameters: Parameters): boolean {
  try {
    return parameters.flag("error_trace") ?? false;
  } catch (error) {
    throw error instanceof VendorError ? new PlainRefusal(error.status, error.message) : error;
  }
}

/** Runs a route and turns what it throws into a vendor error in the requested form. */
async function respond(
  call: Call,
  run: (output: Output) => Promise<VendorResponse>,
): Promise<VendorResponse> {
  let output = PLAIN_OUTPUT;
  try {
    output = readOutput(call);
    return await run(output);
  } catch (error) {
    if (error instanceof PlainRefusal) {
      const body = { error: error.message, status: error.status };
      return write({ status: error.status, body }, output);
    }
    const { status, body } = vendorErrorResponse(asVendorError(error));
    return write({ status, body: output.stackTrace ? withStackTrace(body) : body }, output);
  }
}

/** @throws the error itself when the vendor has no equivalent */
export function asVendorError(error: unknown): VendorError {
  if (error instanceof VendorError) return error;
  if (error instanceof QueryInterrupted) {
    return error.reason === "cancelled"
      ? new VendorError(400, { type: "task_cancelled_exception", reason: "task cancelled [channel closed]" })
      : new VendorError(504, { type: "search_timeout_exception", reason: `Time exceeded: ${error.message}` });
  }
  if (error instanceof StoreFull) return indexBlocked();
  if (error instanceof QueueFull) {
    return new VendorError(429, {
      type: "es_rejected_execution_exception",
      reason: `rejected execution of TimedRunnable on TaskExecutor[name = ${NODE_NAME}/search]: ${error.message}`,
    });
  }
  if (error instanceof OutOfMemory) return circuitBreakerError(error);
  throw error;
}

/** Allocation unit of DuckDB. */
const BLOCK_BYTES = 262_144;

/**
 * 429 of the parent circuit breaker.
 * Source: https://www.elastic.co/guide/en/elasticsearch/reference/8.15/circuit-breaker-errors.html
 */
function circuitBreakerError({ limitBytes }: OutOfMemory): VendorError {
  const wantedBytes = limitBytes + BLOCK_BYTES;
  const usages = ["model_inference", "inflight_requests", "request", "fielddata", "eql_sequence"].map(
    (breaker) => `${breaker}=${bytesText(breaker === "request" ? limitBytes : 0)}`,
  );
  return new VendorError(429, {
    type: "circuit_breaking_exception",
    reason: `[parent] Data too large, data for [<http_request>] would be [${bytesText(wantedBytes)}], which is larger than the limit of [${bytesText(limitBytes)}], real usage: [${bytesText(limitBytes)}], new bytes reserved: [${bytesText(BLOCK_BYTES)}], usages [${usages.join(", ")}]`,
    bytes_wanted: wantedBytes,
    bytes_limit: limitBytes,
    durability: "TRANSIENT",
  });
}

/** `256000000/244.1mb`: the vendor's units of 1024, truncated to one decimal. */
function bytesText(bytes: number): string {
  const power = bytes < 1024 ? 0 : bytes < 1024 ** 2 ? 1 : 2;
  const value = Math.floor((bytes / 1024 ** power) * 10) / 10;
  return `${bytes}/${value}${["b", "kb", "mb"][power]}`;
}

function withStackTrace(body: VendorResponse["body"]): VendorResponse["body"] {
  if (typeof body !== "object" || body === null || !("error" in body)) return body;
  const { error } = body;
  if (typeof error !== "object" || error === null || !("reason" in error)) return body;
  return { ...body, error: { ...error, stack_trace: String(error.reason) } };
}

function write(answer: Answer, { form, contentType, pretty, filter }: Output): VendorResponse {
  const { status = 200, headers = {}, body } = answer;
  if (body === undefined) return { status, headers };
  if (typeof body === "string") {
    return {
      status,
      headers: { "content-type": answer.contentType ?? "text/plain; charset=UTF-8", ...headers },
      body,
    };
  }
  const filtered = filter(body);
  const sent = { "content-type": contentType, ...headers };
  if (form === "yaml") {
    return { status, headers: sent, body: yamlText(JSON.parse(compactJson(filtered))) };
  }
  return { status, headers: sent, body: pretty ? `${prettyJson(filtered)}\n` : compactJson(filtered) };
}

/** YAML as the vendor writes it: quoted strings, lists not indented. */
function yamlText(json: unknown): string {
  const text = stringify(json, {
    defaultStringType: "QUOTE_DOUBLE",
    defaultKeyType: "PLAIN",
    indentSeq: false,
    lineWidth: 0,
  });
  const isOneLine = text === "[]\n" || text === "{}\n" || typeof json !== "object" || json === null;
  return `---${isOneLine ? " " : "\n"}${text}`;
}

function commonHeaders({ headers }: VendorRequest): Record<string, string> {
  const opaque = headers["x-opaque-id"];
  return {
    "x-elastic-product": "Elasticsearch",
    ...(typeof opaque === "string" ? { "x-opaque-id": opaque } : {}),
  };
}

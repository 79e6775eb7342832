/** What all routes of the vendor's API have in common: forms, URL parameters, filters, errors and headers. */
import { stringify } from "yaml";
import { QueryInterrupted, QueueFull } from "../../datasets/store/log-store.ts";
import type { Method, Operation, VendorRequest, VendorResponse } from "../../sandbox/operation.ts";
import { compactJson, prettyJson } from "../json/write.ts";
import { NODE_NAME } from "../node.ts";
import type { SearchTwin } from "../search-twin.ts";
import { VendorError, vendorErrorResponse } from "../vendor-error.ts";
import { Call } from "./call.ts";
import { filterPath } from "./filter-path.ts";
import { type AnswerForm, negotiate, PlainRefusal } from "./media-types.ts";

/** The vendor's `http.max_content_length`. */
const MAX_BODY_BYTES = 100 * 1024 * 1024;

export interface Answer {
  /** Default 200. */
  status?: number;
  /** Text goes as it is, under `contentType`; anything else as JSON, or as the request asks; `undefined`: no body. */
  body?: unknown;
  contentType?: string;
  headers?: Record<string, string>;
}

export interface ApiDeclaration {
  id: string;
  method: Method;
  path: string;
  summary: string;
  /** URL parameters beyond those that every route takes. */
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
  const response = await answered(call, async (form) => {
    call.parameters.check(request.path, parameters);
    return written(await handle(call, twin), form, call);
  });
  return {
    ...response,
    headers: { ...response.headers, ...commonHeaders(request) },
    ...(Object.keys(call.notes).length > 0 ? { notes: call.notes } : {}),
  };
}

/** Runs a route; what it throws in the vendor's words is answered in the form that was asked for. */
async function answered(
  call: Call,
  run: (form: AnswerForm) => Promise<VendorResponse>,
): Promise<VendorResponse> {
  let form: AnswerForm = { form: "json", contentType: "application/json" };
  try {
    form = negotiate(call.request);
    return await run(form);
  } catch (error) {
    if (error instanceof PlainRefusal) {
      const body = { error: error.message, status: error.status };
      return written({ status: error.status, body }, form, call);
    }
    const { status, body } = vendorErrorResponse(asVendorError(error));
    return written({ status, body: traced(call, body) }, form, call);
  }
}

/** @throws the error itself, when it is none that the vendor has words for */
export function asVendorError(error: unknown): VendorError {
  if (error instanceof VendorError) return error;
  if (error instanceof QueryInterrupted) {
    return error.reason === "cancelled"
      ? new VendorError(400, { type: "task_cancelled_exception", reason: "task cancelled [channel closed]" })
      : new VendorError(504, { type: "search_timeout_exception", reason: `Time exceeded: ${error.message}` });
  }
  if (error instanceof QueueFull) {
    return new VendorError(429, {
      type: "es_rejected_execution_exception",
      reason: `rejected execution of TimedRunnable on TaskExecutor[name = ${NODE_NAME}/search]: ${error.message}`,
    });
  }
  throw error;
}

function traced(call: Call, body: VendorResponse["body"]): VendorResponse["body"] {
  if (!call.parameters.has("error_trace") || call.parameters.flag("error_trace") === false) return body;
  if (typeof body !== "object" || body === null || !("error" in body)) return body;
  const { error } = body;
  if (typeof error !== "object" || error === null || !("reason" in error)) return body;
  return { ...body, error: { ...error, stack_trace: String(error.reason) } };
}

function written(answer: Answer, { form, contentType }: AnswerForm, call: Call): VendorResponse {
  const { status = 200, headers = {}, body } = answer;
  if (body === undefined) return { status, headers };
  if (typeof body === "string") {
    return {
      status,
      headers: { "content-type": answer.contentType ?? "text/plain; charset=UTF-8", ...headers },
      body,
    };
  }
  const filter = call.parameters.list("filter_path");
  const filtered = filter && filter.length > 0 ? filterPath(body, filter) : body;
  const sent = { "content-type": contentType, ...headers };
  if (form === "yaml") {
    return { status, headers: sent, body: `---\n${stringify(JSON.parse(compactJson(filtered)))}` };
  }
  const pretty = call.parameters.has("pretty") && call.parameters.flag("pretty") !== false;
  return { status, headers: sent, body: pretty ? `${prettyJson(filtered)}\n` : compactJson(filtered) };
}

function commonHeaders({ headers }: VendorRequest): Record<string, string> {
  const opaque = headers["x-opaque-id"];
  return {
    "x-elastic-product": "Elasticsearch",
    ...(typeof opaque === "string" ? { "x-opaque-id": opaque } : {}),
  };
}

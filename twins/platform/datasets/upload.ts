/** `POST /environments/{environment}/datasets/{service}`: streams a file to its library, never held in memory as a whole. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { errorResponse, fieldProblems, unavailableResponse } from "../http/errors.ts";
import { refuseEarly, type SentResponse, sendResponse, whenClientLeaves } from "../http/http.ts";
import type { VendorResponse } from "../http/operation.ts";
import type { Journal } from "../journal/journal.ts";
import type { Local } from "../sandboxes/serve.ts";
import { DatasetRefusal, DatasetTooLarge } from "../twin/dataset.ts";
import { WorldUnavailable } from "../world/world.ts";
import {
  descriptionResponse,
  type EnvironmentsTarget,
  readPlace,
  uploadRoute,
} from "./environment-operations.ts";
import { DatasetConflict } from "./environments.ts";
import { isForm, readFormFile } from "./form-file.ts";

export interface UploadTarget extends EnvironmentsTarget {
  journal: Journal;
  /** Limit of the file, both as sent and decompressed. */
  maxBytes: number;
}

const uploadQuery = z.strictObject({
  format: z.enum(["csv", "ndjson"], "must be csv or ndjson").optional(),
  file_name: z.string().min(1).max(255).optional(),
  replace: z.enum(["true", "false"], "must be true or false").optional(),
});

/** What became of an upload. */
type Outcome =
  | { kind: "answer"; response: VendorResponse }
  /** The client disconnected. */
  | { kind: "gone" };

export async function serveUpload(
  req: IncomingMessage,
  res: ServerResponse,
  local: Local,
  params: Record<string, string>,
  target: UploadTarget,
): Promise<void> {
  // The journal does not keep the file: it is a user's log.
  const complete = target.journal.record({
    tier: "control",
    operation: uploadRoute.id,
    method: uploadRoute.method,
    path: local.path,
    query: new URLSearchParams(local.query),
    headers: req.headers,
    body: Buffer.alloc(0),
    startedAt: performance.now(),
  });
  const outcome = await upload(req, res, local, params, target);
  complete(
    outcome.kind === "gone"
      ? { status: null, headers: {}, body: Buffer.alloc(0) }
      : await answer(outcome.response),
  );

  function answer(response: VendorResponse): Promise<SentResponse> {
    return req.complete ? sendResponse(req, res, response) : refuseEarly(req, res, response);
  }
}

async function upload(
  req: IncomingMessage,
  res: ServerResponse,
  { query }: Local,
  params: Record<string, string>,
  target: UploadTarget,
): Promise<Outcome> {
  const place = await readPlace(params, target);
  if (!place.ok) return { kind: "answer", response: place.response };
  const given = uploadQuery.safeParse(Object.fromEntries(new URLSearchParams(query)));
  if (!given.success) {
    const problems = fieldProblems(given.error);
    const message = "the query is not what this route takes";
    return { kind: "answer", response: errorResponse(422, "invalid", message, problems) };
  }
  const refusal = refusalOfHeaders(req, target.maxBytes);
  if (refusal) return { kind: "answer", response: refusal };
  const left = new AbortController();
  whenClientLeaves(res, () => left.abort());
  const source = {
    bytes: req.iterator({ destroyOnReturn: false }),
    maxBytes: target.maxBytes,
    fileName: given.data.file_name,
    format: given.data.format,
    contentType: req.headers["content-type"],
  };
  try {
    const { dataset, sandboxes } = await target.environments.upload(
      place.place,
      place.definition,
      isForm(source.contentType) ? await readFormFile(source) : source,
      left.signal,
      target.reset,
      given.data.replace === "true" ? "replace" : "keep",
    );
    return { kind: "answer", response: descriptionResponse(201, dataset.description, { sandboxes }) };
  } catch (error) {
    if (left.signal.aborted) return { kind: "gone" };
    const response = responseOf(error);
    if (response) return { kind: "answer", response };
    throw error;
  }
}

function refusalOfHeaders({ headers }: IncomingMessage, maxBytes: number): VendorResponse | undefined {
  const coding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (!["identity", "gzip", "x-gzip"].includes(coding)) {
    return errorResponse(422, "invalid", `content-encoding ${coding} is not understood; use gzip`);
  }
  if (coding !== "identity" && isForm(headers["content-type"])) {
    return errorResponse(422, "invalid", "a form is sent as it is; only the file in it may be compressed");
  }
  return Number(headers["content-length"] ?? 0) > maxBytes ? tooLarge(maxBytes) : undefined;
}

function responseOf(error: unknown): VendorResponse | undefined {
  if (error instanceof DatasetConflict) return errorResponse(409, "conflict", error.message);
  if (error instanceof DatasetTooLarge) return tooLarge(error.limitBytes);
  if (error instanceof WorldUnavailable) return unavailableResponse(error);
  if (!(error instanceof DatasetRefusal)) return undefined;
  const { message, problems, total } = error;
  return {
    status: 422,
    body: { error: { code: "invalid_dataset", message, problems, total_problems: total } },
  };
}

function tooLarge(limitBytes: number): VendorResponse {
  return errorResponse(
    413,
    "too_large",
    `a dataset's file has at most ${limitBytes} bytes, decompressed as well`,
  );
}

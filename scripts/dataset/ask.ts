/** Requests to the twins' dataset routes, and their answers. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { z } from "zod";

const answerSchema = z.object({
  file_name: z.string().nullable(),
  format: z.string(),
  bytes: z.number(),
  created_at: z.string(),
  rows: z.number(),
  columns: z.array(
    z.object({ name: z.string(), type: z.string(), multi: z.boolean(), note: z.string().optional() }),
  ),
  time_field: z.string().nullable(),
  time_range: z.object({ from: z.string(), to: z.string() }).nullable(),
});
export type DatasetAnswer = z.infer<typeof answerSchema>;

const resetSchema = z.object({
  sandboxes: z.array(z.object({ id: z.string(), problem: z.string().optional() })).default([]),
});
export type ResetSandbox = z.infer<typeof resetSchema>["sandboxes"][number];

const refusalSchema = z.object({
  error: z.object({
    message: z.string(),
    problems: z
      .array(z.object({ line: z.number().optional(), column: z.number().optional(), rule: z.string() }))
      .default([]),
    total_problems: z.number().optional(),
  }),
});
export type Refusal = z.infer<typeof refusalSchema>["error"];

/** The twins' answer; `text` is its raw body. */
export type Answer =
  | { kind: "dataset"; dataset: DatasetAnswer; sandboxes: ResetSandbox[]; text: string }
  | { kind: "deleted"; sandboxes: ResetSandbox[]; text: string }
  | { kind: "refused"; status: number; refusal: Refusal; text: string };

/** The twins did not answer, do not know the key, or sent an answer of another shape. */
export class RequestFailed extends Error {}

export interface Question {
  method: "GET" | "POST" | "DELETE";
  url: URL;
  key: string;
  /** The body, and its length if known. */
  body?: { bytes: Readable; length: number | undefined; onSent(bytes: number): void };
}

const UNAUTHORIZED = 401;

/** @throws NotAsked */
export async function ask({ method, url, key, body }: Question): Promise<Answer> {
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const length = body?.length === undefined ? {} : { "content-length": body.length };
  const request = send(url, { method, headers: { "x-api-key": key, ...length } });
  const answered = responseTo(request);
  if (body) sendBody(body, request);
  else request.end();
  let answer: Awaited<typeof answered>;
  try {
    answer = await answered;
  } catch (error) {
    throw new RequestFailed(`the twins at ${url.origin} did not answer: ${describe(error)}`);
  }
  return parseAnswer(answer.status, answer.text);
}

/** Sends the body until its end or an early answer: a refusal need not wait for the rest. */
function sendBody({ bytes, onSent }: NonNullable<Question["body"]>, request: ClientRequest): void {
  let sent = 0;
  bytes.on("data", (chunk: Buffer) => {
    sent += chunk.length;
    onSent(sent);
  });
  bytes.on("error", (error) => request.destroy(error));
  request.on("response", () => bytes.unpipe(request));
  bytes.pipe(request);
}

function responseTo(request: ClientRequest): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response: IncomingMessage) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        request.destroy();
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") });
      });
    });
  });
}

function parseAnswer(status: number, text: string): Answer {
  const value = parseJson(text);
  const refusal = refusalSchema.safeParse(value);
  if (status === UNAUTHORIZED) {
    throw new RequestFailed(
      "the twins do not know this key; theirs is printed when they start: --key, or SANDBOX_API_KEY",
    );
  }
  if (refusal.success) return { kind: "refused", status, refusal: refusal.data.error, text };
  const reset = resetSchema.safeParse(value);
  const sandboxes = reset.success ? reset.data.sandboxes : [];
  const dataset = answerSchema.safeParse(value);
  if (dataset.success) return { kind: "dataset", dataset: dataset.data, sandboxes, text };
  if (status === 200 && reset.success) return { kind: "deleted", sandboxes, text };
  throw new RequestFailed(`what answers there is not the twins: status ${status}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message === "" && "code" in error ? String(error.code) : error.message;
}

/** Requests to the control plane. The session's cookie goes along; no key is ever in the page. */
import { signOut } from "./session.ts";

/** One thing that is wrong with a request, as the control plane tells it. */
export interface Problem {
  table?: string;
  row?: number;
  column?: string | number;
  /** A member of the body or of the query: `match.path`. */
  field?: string;
  /** Of a file, from 1; `column` is a number then. */
  line?: number;
  value?: unknown;
  /** What was expected, in words. */
  rule: string;
}

/** A refusal, in the control plane's shape `{error: {code, message, problems}}`. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly problems: readonly Problem[];
  /** `problems` are the first of these. */
  readonly totalProblems: number;

  constructor(
    status: number,
    code: string,
    message: string,
    problems: readonly Problem[] = [],
    totalProblems = problems.length,
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.problems = problems;
    this.totalProblems = totalProblems;
  }
}

/** Tells a refusal from a mistake of the page. */
export function isApiError(error: unknown): error is ApiError {
  return error instanceof ApiError;
}

export type Query = Record<string, string | number | readonly string[] | undefined>;

/** `/c/dev/vapi/sim/calls` for `controlPath("dev", "vapi", "calls")`. */
export function controlPath(sandbox: string, twin: string, route: string, query: Query = {}): string {
  const [head, tail] = [`/c/${encodeURIComponent(sandbox)}/${encodeURIComponent(twin)}`, `/sim/${route}`];
  return `${head}${tail}${queryText(query)}`;
}

/** `?a=1&b=2`, without what is undefined or empty; an array repeats its name. */
export function queryText(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const values = Array.isArray(value) ? value : [value];
    for (const each of values) if (each !== undefined && each !== "") search.append(name, String(each));
  }
  return search.size > 0 ? `?${search}` : "";
}

/** @throws ApiError, also when nothing answers (status 0) */
export function read<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return ask<Answer>(path, signal ? { signal } : {});
}

/** Sends a JSON body, or none. @throws ApiError */
export function send<Answer>(
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  return ask<Answer>(path, body === undefined ? { method } : { method, headers, body: JSON.stringify(body) });
}

/** Sends a file as it is. @throws ApiError */
export function sendFile<Answer>(method: "POST" | "PUT", path: string, body: Blob): Promise<Answer> {
  return ask<Answer>(path, { method, headers: { "content-type": body.type }, body });
}

/** @throws ApiError */
export async function readFile(path: string): Promise<ArrayBuffer> {
  const response = await request(path, {});
  if (response.ok) return response.arrayBuffer();
  throw refusalOf(response.status, await response.text());
}

async function ask<Answer>(path: string, init: RequestInit): Promise<Answer> {
  const response = await request(path, init);
  const text = await response.text();
  if (response.ok) return (text === "" ? undefined : JSON.parse(text)) as Answer;
  throw refusalOf(response.status, text);
}

interface RefusalBody {
  error: { code: string; message: string; problems?: Problem[]; total_problems?: number };
}

/** Reads a refusal of the control plane. */
export function refusalOf(status: number, text: string): ApiError {
  if (status === 401) signOut();
  try {
    const { error } = JSON.parse(text) as RefusalBody;
    return new ApiError(status, error.code, error.message, error.problems, error.total_problems);
  } catch {
    return new ApiError(status, "unknown", text.slice(0, 300) || `the twins answered ${status}`);
  }
}

async function request(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, credentials: "same-origin" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "the twins do not answer; are they running?");
  }
}

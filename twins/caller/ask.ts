/** Requests to the twins of a sandbox, and the errors that explain their failures. */
import { z } from "zod";

export interface SandboxAddress {
  /** The gateway, `http://127.0.0.1:6100`. */
  baseUrl: string;
  /** Key of the control plane. */
  apiKey: string;
  /** Default `dev`. */
  sandbox?: string;
}

/** A failed request to a twin; the message says which twin, what it answered, and what to do. */
export class SandboxError extends Error {
  override name = "SandboxError";
}

const refusal = z.object({
  error: z.object({
    message: z.string(),
    problems: z
      .array(
        z.looseObject({
          rule: z.string(),
          table: z.string().optional(),
          field: z.string().optional(),
          column: z.string().optional(),
        }),
      )
      .optional(),
  }),
});

const REQUEST_TIMEOUT_MS = 30_000;

/** @returns the answer's JSON. @throws SandboxError when there is no answer, or a refusal */
export async function ask(
  method: string,
  url: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<unknown> {
  const response = await request(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  throw new SandboxError(`${method} ${new URL(url).pathname}: ${explain(response.status, answer)}`);
}

/** @throws SandboxError when there is no answer */
export async function request(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) });
  } catch (error) {
    const cause =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    const { origin } = new URL(url);
    throw new SandboxError(`no answer from the twins at ${origin} (${cause}): start them with npm run dev`);
  }
}

export function keyHeader({ apiKey }: Pick<SandboxAddress, "apiKey">): Record<string, string> {
  return { "x-api-key": apiKey };
}

function explain(status: number, answer: unknown): string {
  const parsed = refusal.safeParse(answer);
  if (!parsed.success) return `HTTP ${status}`;
  const { message, problems = [] } = parsed.data.error;
  const details = problems.map(({ rule, table, column, field }) => {
    const place = [table, column ?? field].filter((part) => part !== undefined).join(".");
    return `\n  ${place} ${rule}`;
  });
  return `HTTP ${status}: ${message}${details.join("")}`;
}

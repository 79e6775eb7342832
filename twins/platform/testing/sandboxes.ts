/** Requests to the sandbox routes, for tests. */
import type { RunningTwins } from "../server/start.ts";
import { type Answer, request } from "./http.ts";

/** Asks `/sandboxes` and below, with the key of the twins or another. */
export type AskSandboxes = (method: string, path?: string, body?: unknown, key?: string) => Promise<Answer>;

export function sandboxRoutes(twins: Pick<RunningTwins, "baseUrl" | "apiKey">): AskSandboxes {
  return (method, path = "", body, key = twins.apiKey) =>
    request(method, `${twins.baseUrl}/sandboxes${path}`, {
      headers: { "x-api-key": key },
      ...(body === undefined ? {} : { body }),
    });
}

/** Which server receives a call's webhooks, and the headers it gets. */
import type { CallbackDestination } from "@offhook/platform/client/destination";
import type { Assistant } from "../schema/assistant.ts";
import type { Server } from "../schema/server.ts";

export const DEFAULT_TIMEOUT_SECONDS = 20;
/** The User-Agent of every webhook of this twin. */
export const USER_AGENT = "vapi-twin";

export type ReachableServer = Server & { url: string };

/** The assistant's server; `serverUrl` and `serverUrlSecret` are the vendor's older names. */
export function assistantServer(assistant: Assistant): ReachableServer | undefined {
  const older: Server | undefined = assistant.serverUrl
    ? {
        url: assistant.serverUrl,
        ...(assistant.serverUrlSecret ? { secret: assistant.serverUrlSecret } : {}),
      }
    : undefined;
  return withUrl(assistant.server) ?? withUrl(older);
}

/** The assistant with the organisation's server where it names none, as with the vendor. */
export function withOrganisationServer(
  assistant: Assistant,
  destination: CallbackDestination | undefined,
): Assistant {
  if (!destination || assistantServer(assistant)) return assistant;
  const { url, headers } = destination;
  return { ...assistant, server: { ...assistant.server, url, headers: { ...headers } } };
}

export function withUrl(server: Server | null | undefined): ReachableServer | undefined {
  return server?.url ? { ...server, url: server.url } : undefined;
}

/** The configured headers, and the older secret header. */
export function serverHeaders(server: Server): Record<string, string> {
  return { ...(server.headers ?? {}), ...(server.secret ? { "x-vapi-secret": server.secret } : {}) };
}

/** The agent to call and the twins behind it, by what a command line or the environment names, or by what runs here. */
import type { Framing } from "@offhook/caller/line";
import type { SandboxAddress } from "@offhook/caller/sandbox-client";
import { UsageError } from "@offhook/platform/server/command-line";
import { locateTwins } from "./locator.ts";

export const DEFAULT_URL = "ws://127.0.0.1:8008/voice";

/** The token that an agent may ask of its callers. */
export function voiceHeaders({
  VOICE_TOKEN: token,
}: Record<string, string | undefined>): Record<string, string> {
  return token === undefined || token === "" ? {} : { authorization: `Bearer ${token}` };
}

/** The address and framing to call; without an address, those of the channel in the twins' environment file. */
export function calleeOf(
  address: string | undefined,
  protocol: Framing | undefined,
): { url: string; framing: Framing | undefined } {
  if (address !== undefined) return { url: voiceUrl(address), framing: protocol };
  const [channel] = locateTwins()?.channels ?? [];
  return { url: voiceUrl(channel?.url ?? DEFAULT_URL), framing: protocol ?? channel?.protocol };
}

/** The twins to use; `undefined` when none are named and none run here. @throws UsageError without their key */
export function sandboxOf(url: string | undefined, key: string | undefined): SandboxAddress | undefined {
  const running = locateTwins();
  const baseUrl = url ?? running?.base_url;
  if (baseUrl === undefined) return undefined;
  const apiKey = key ?? (running?.base_url === baseUrl ? running.api_key : undefined);
  if (apiKey !== undefined) return { baseUrl, apiKey };
  throw new UsageError(`the twins at ${baseUrl} need a key: --key, or SANDBOX_API_KEY in the environment`);
}

/** The voice channel of an agent's address; `http` becomes `ws`. */
export function voiceUrl(address: string): string {
  let url: URL;
  try {
    url = new URL(address.replace(/^http/, "ws"));
  } catch {
    throw new UsageError(`"${address}" is not an address; an agent's is ${DEFAULT_URL}`);
  }
  if (!["ws:", "wss:"].includes(url.protocol)) {
    throw new UsageError(`"${address}" is not a WebSocket's address; an agent's is ${DEFAULT_URL}`);
  }
  if (url.pathname === "/") url.pathname = "/voice";
  return url.href;
}

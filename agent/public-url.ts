/** The address at which the voice runtime reaches this agent. */
import type { Logger } from "pino";
import type { Config } from "./config.ts";

export interface PublicUrl {
  /**
   * The base address, without a slash at the end.
   * @param signal gives up waiting; the address itself is shared by all calls and still being sought
   * @throws Error saying why there is no address
   */
  get(signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/** An address that is known from the start. */
export function fixedUrl(url: string): PublicUrl {
  return { get: async () => url, close: async () => {} };
}

export function publicUrlFor(config: Config, ownUrl: string, log: Logger): PublicUrl {
  void log;
  if (config.publicBaseUrl !== undefined) return fixedUrl(config.publicBaseUrl);
  return fixedUrl(ownUrl);
}

/** Reads the setting of the upstream resolver for unlisted names. */
import { getServers } from "node:dns";
import { isIP } from "node:net";
import { z } from "zod";
import type { Resolver } from "./dns-upstream.ts";

const DNS_PORT = 53;

/** `system` (this machine's resolver), `none` (queries are refused), or an IP address with or without a port. */
export const upstreamSetting = z.string().transform((text, context): Resolver | undefined => {
  if (text === "none") return undefined;
  const resolver = readResolver(text === "system" ? (getServers()[0] ?? "") : text);
  if (resolver || text === "system") return resolver;
  context.addIssue({ code: "custom", message: "must be system, none, or an address such as 192.0.2.1:53" });
  return z.NEVER;
});

/** `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`. */
function readResolver(text: string): Resolver | undefined {
  if (isIP(text)) return { host: text, port: DNS_PORT };
  const colon = text.lastIndexOf(":");
  const host = text.slice(0, colon).replace(/^\[|\]$/g, "");
  const port = Number(text.slice(colon + 1));
  return isIP(host) && Number.isInteger(port) && port > 0 && port < 65_536 ? { host, port } : undefined;
}

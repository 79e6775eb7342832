/** Host names as they stand in addresses, in `Host` and in `Origin`. */
import { BlockList, isIP } from "node:net";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/**
 * The host name of an authority such as `Agent.example.com:8008`: lower case, without port, brackets and final dot.
 * @returns undefined when it is none
 */
export function hostnameOf(authority: string): string | undefined {
  const url = parseUrl(`http://${authority}`);
  if (url === undefined || url.username !== "" || url.pathname !== "/" || url.search !== "") return undefined;
  return hostnameOfUrl(url);
}

/** The host name of an address: lower case, without brackets and final dot. */
export function hostnameOfUrl({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

export function parseUrl(text: string, base?: string): URL | undefined {
  return URL.canParse(text, base) ? new URL(text, base) : undefined;
}

/** Whether a host name is an address of the loopback interface or a name that every resolver keeps there (RFC 6761). */
export function isLoopbackHost(hostname: string): boolean {
  const version = isIP(hostname);
  if (version === 0) return hostname === "localhost" || hostname.endsWith(".localhost");
  return LOOPBACK.check(hostname, version === 4 ? "ipv4" : "ipv6");
}

/** Hosts that webhooks may be posted to: this machine, and those that the service's config names. */
import { matchesPattern } from "@offhook/platform/base/star-pattern";

/** Whether a webhook may be posted to an address. @param hosts names with `*` for any text, beside this machine */
export function mayCall(url: string, hosts: readonly string[]): boolean {
  const { hostname } = new URL(url);
  return isThisMachine(hostname) || hosts.some((pattern) => matchesPattern(hostname, pattern.toLowerCase()));
}

/** Whether a host name is `localhost` or a loopback address. */
function isThisMachine(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

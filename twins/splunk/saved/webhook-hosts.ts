/** Whom webhooks are posted to: this machine, and the hosts that the service's config names. */
import { matchesPattern } from "@offhook/platform/base/star-pattern";

/** @param hosts names with `*` for any text; beside those of this machine */
export function mayCall(url: string, hosts: readonly string[]): boolean {
  const { hostname } = new URL(url);
  return isThisMachine(hostname) || hosts.some((pattern) => matchesPattern(hostname, pattern.toLowerCase()));
}

/** An address of the loopback interface, or the name that stands for one. */
function isThisMachine(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

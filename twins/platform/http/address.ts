/** Where a request goes, by its path and its `Host`. */

export type Address =
  /** A twin at its own address, `/s/<sandbox>/<twin>/…`. */
  | { kind: "twin"; sandbox: string; twin: string; path: string; query: string }
  /** The vendor API of a twin, addressed by a host name. */
  | { kind: "host"; sandbox: string; twin: string; path: string; query: string }
  | { kind: "control"; sandbox: string; twin: string; path: string; query: string }
  /** The sandboxes themselves: `/sandboxes` and below. */
  | { kind: "sandboxes"; path: string; query: string }
  /** The environments and their datasets: `/environments` and below. */
  | { kind: "environments"; path: string; query: string }
  /** The console, if there is one: `/console` and below. */
  | { kind: "console"; path: string; query: string }
  /** A path with one of our prefixes that is otherwise invalid. */
  | { kind: "nowhere"; path: string }
  /** Any other path: the engine of the first sandbox. */
  | { kind: "engine"; path: string; query: string };

/** Finds the twin a host name stands for. */
export type HostLookup = (host: string) => { sandbox: string; twin: string } | undefined;

/** Reads the request target (`/path?query`, or an absolute URL as proxies send it) and the `Host` header. */
export function readAddress(target: string, host: string | undefined, lookup: HostLookup): Address {
  const absolute = !target.startsWith("/") && URL.canParse(target) ? new URL(target) : undefined;
  if (!target.startsWith("/") && !absolute) return { kind: "nowhere", path: target };
  const local = absolute ? `${absolute.pathname}${absolute.search}` : target;
  const mark = local.indexOf("?");
  const path = mark < 0 ? local : local.slice(0, mark);
  const query = mark < 0 ? "" : local.slice(mark + 1);
  const alias = lookup(hostName(absolute?.host ?? host ?? ""));
  if (alias) return { kind: "host", ...alias, path, query };
  const prefix = path.slice(0, 3);
  if (prefix === "/s/" || prefix === "/c/") return readPrefixed(prefix, path, query);
  if (path === "/sandboxes" || path.startsWith("/sandboxes/")) return { kind: "sandboxes", path, query };
  if (path === "/environments" || path.startsWith("/environments/")) {
    return { kind: "environments", path, query };
  }
  if (path === "/console" || path.startsWith("/console/")) return { kind: "console", path, query };
  return { kind: "engine", path, query };
}

function readPrefixed(prefix: "/s/" | "/c/", path: string, query: string): Address {
  const sandboxEnd = path.indexOf("/", 3);
  const sandbox = sandboxEnd < 0 ? path.slice(3) : path.slice(3, sandboxEnd);
  const twinStart = sandboxEnd + 1;
  const twinEnd = path.indexOf("/", twinStart);
  const twin = twinEnd < 0 ? path.slice(twinStart) : path.slice(twinStart, twinEnd);
  if (sandboxEnd < 0 || !isName(sandbox) || !isName(twin)) return { kind: "nowhere", path };
  const rest = twinEnd < 0 ? "/" : path.slice(twinEnd);
  return { kind: prefix === "/s/" ? "twin" : "control", sandbox, twin, path: rest, query };
}

const NAME_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789-_";
const NAME_LENGTH = 63;

/** A sandbox or twin name: 1 to 63 of `a`–`z`, `0`–`9`, `-`, `_`. Without escapes or dots, it cannot traverse paths. */
export function isName(text: string): boolean {
  if (text.length === 0 || text.length > NAME_LENGTH) return false;
  for (const character of text) if (!NAME_CHARACTERS.includes(character)) return false;
  return true;
}

/** `Host` in lower case, without port and final dot. */
export function hostName(host: string): string {
  const bracket = host.indexOf("]");
  const colon = host.indexOf(":", Math.max(bracket, 0));
  const name = (colon < 0 ? host : host.slice(0, colon)).toLowerCase();
  return name.endsWith(".") ? name.slice(0, -1) : name;
}

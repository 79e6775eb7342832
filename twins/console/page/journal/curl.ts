/** A request of the journal as a command that sends it again. */
import { queryText } from "../api/client.ts";
import type { JournalEntry } from "./types.ts";

/** What the journal shows in place of a secret. */
const MASK = "***";
/** Set by curl itself, or meaningless for another connection. */
const OWN_HEADERS = new Set([
  "host",
  "connection",
  "content-length",
  "accept-encoding",
  "transfer-encoding",
  "cookie",
  "origin",
  "referer",
]);
/** Variables in which a command expects the secrets that the journal does not keep. */
const VARIABLES: Readonly<Record<string, string>> = { "x-api-key": "$SANDBOX_API_KEY" };

/**
 * @param baseUrl address of the twins, without a slash at the end
 * @returns `undefined` for a request that did not come over HTTP, such as a database's statement
 */
export function curlOf(
  entry: JournalEntry,
  { baseUrl, sandbox, twin }: { baseUrl: string; sandbox: string; twin: string },
): string | undefined {
  if (!/^(GET|HEAD|POST|PUT|PATCH|DELETE)$/.test(entry.method)) return undefined;
  const prefix = entry.tier === "vendor" ? "s" : "c";
  const url = `${baseUrl}/${prefix}/${sandbox}/${twin}${entry.path}${queryText(entry.query)}`;
  const body = bodyText(entry.body);
  const method = entry.method === "HEAD" ? ["-I"] : entry.method === "GET" ? [] : ["-X", entry.method];
  const headers = Object.entries(entry.headers)
    .filter(([name]) => !OWN_HEADERS.has(name) && !name.startsWith("sec-"))
    .map(([name, value]) => `-H ${quoteHeader(name, value)}`);
  const parts = [`curl ${[...method, quote(url)].join(" ")}`, ...headers];
  if (body !== undefined) parts.push(`--data-raw ${quote(body)}`);
  return parts.join(" \\\n  ");
}

function quoteHeader(name: string, value: string): string {
  if (!value.includes(MASK)) return quote(`${name}: ${value}`);
  // In double quotes, so that the shell puts the variable in.
  const secret = VARIABLES[name] ?? "$SECRET";
  return `"${`${name}: ${value}`.replace(/["\\`$]/g, "\\$&").replaceAll(MASK, secret)}"`;
}

function bodyText(body: unknown): string | undefined {
  if (body === null || body === undefined) return undefined;
  if (typeof body === "string") return body;
  const isCut = typeof body === "object" && "truncated" in body && "text" in body;
  return isCut ? String(body.text) : JSON.stringify(body);
}

/** For a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

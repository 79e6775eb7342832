/** Takes secrets out of what the journal keeps, before it is kept. */
import { KnownSecrets } from "./known-secrets.ts";
import { createRouter, type Router } from "./router.ts";
import type { AnyTwinDefinition } from "./twin.ts";

export const MASK = "***";

/** Headers that carry credentials whatever the vendor. */
const SECRET_HEADERS = ["authorization", "proxy-authorization", "x-api-key", "cookie", "set-cookie"];

export type Headers = Record<string, string | string[] | number | undefined>;

export interface Mask {
  /** Adds credentials that are masked wherever they stand. */
  know(credentials: readonly string[]): void;
  headers(headers: Headers): Record<string, string>;
  path(path: string): string;
  query(query: URLSearchParams): Record<string, string>;
  /**
   * The first bytes of a body, with the values of secret members and all known credentials masked; a part of the same
   * buffer when it holds none.
   * @param mostBytes how many of them at most; `cut` says that there were more.
   */
  body(body: Buffer, contentType: string, mostBytes: number): { bytes: Buffer; cut: boolean };
}

export type Secrets = Pick<AnyTwinDefinition, "secretHeaders" | "secretMembers" | "secretPathParams">;

/**
 * Credentials that come in secret headers are known from then on, and masked wherever they stand.
 * @param secrets what a twin declares beyond the platform's own list.
 */
export function createMask(secrets: Secrets): Mask {
  const known = new KnownSecrets(MASK);
  const headers = new Set(
    [...SECRET_HEADERS, ...(secrets.secretHeaders ?? [])].map((name) => name.toLowerCase()),
  );
  const members = new Set(secrets.secretMembers ?? []);
  const paths = createRouter((secrets.secretPathParams ?? []).map((path) => ({ method: "", path })));
  // An escape could spell a name or a value in a way that a search for its bytes would miss.
  const traces = [...members, "\\u"].map((name) => Buffer.from(name));
  return {
    know: (credentials) => known.declare(credentials),
    headers(given) {
      const shown: Record<string, string> = {};
      for (const [name, value] of Object.entries(given)) {
        if (value === undefined) continue;
        const text = Array.isArray(value) ? value.join(", ") : String(value);
        const secret = headers.has(name.toLowerCase());
        if (secret) known.learn(text);
        shown[name] = secret ? MASK : text;
      }
      // Only now are the credentials of this request known.
      for (const name in shown) shown[name] = known.inText(shown[name] ?? "");
      return shown;
    },
    path: (path) => known.inText(maskPath(path, paths)),
    query(query) {
      const shown: Record<string, string> = {};
      for (const [name, value] of query) {
        const secret = members.has(name) || headers.has(name.toLowerCase());
        shown[known.inText(name)] = secret ? MASK : known.inText(value);
      }
      return shown;
    },
    body(body, contentType, mostBytes) {
      // Masked text may be shorter or longer than what it stands for: the margin holds whatever the cut goes through.
      const margin = known.longestBytes * MASK.length;
      const whole = body.length <= mostBytes + margin;
      const beginning = whole ? body : body.subarray(0, mostBytes + margin);
      // A secret's name stands before it: one beyond the beginning has none in it.
      if (traces.some((trace) => beginning.includes(trace))) {
        return firstOf(known.inBytes(maskBody(body, contentType, members)), mostBytes);
      }
      const masked = known.inBytes(beginning);
      if (whole) return firstOf(masked, mostBytes);
      return { bytes: masked.subarray(0, Math.min(mostBytes, masked.length - margin)), cut: true };
    },
  };
}

function firstOf(bytes: Buffer, mostBytes: number): { bytes: Buffer; cut: boolean } {
  const cut = bytes.length > mostBytes;
  return { bytes: cut ? bytes.subarray(0, mostBytes) : bytes, cut };
}

function maskPath(path: string, paths: Router<{ method: string; path: string }>): string {
  const match = paths.match("", path);
  if (match.kind !== "found") return path;
  const given = path.split("/");
  return match.route.path
    .split("/")
    .map((segment, index) => (segment.startsWith(":") ? MASK : given[index]))
    .join("/");
}

function maskBody(body: Buffer, contentType: string, members: ReadonlySet<string>): Buffer {
  const text = body.toString("utf8");
  if (contentType.startsWith("application/x-www-form-urlencoded")) return maskForm(text, members);
  try {
    return Buffer.from(JSON.stringify(JSON.parse(text, masking(members))));
  } catch {
    return maskLines(text, members);
  }
}

function masking(members: ReadonlySet<string>): (name: string, value: unknown) => unknown {
  return (name, value) => (members.has(name) && value !== null ? MASK : value);
}

function maskForm(text: string, members: ReadonlySet<string>): Buffer {
  const form = new URLSearchParams(text);
  for (const name of new Set(form.keys())) if (members.has(name)) form.set(name, MASK);
  return Buffer.from(form.toString());
}

/** Newline-delimited JSON line by line; a line that is not JSON cannot be searched, so it is masked whole. */
function maskLines(text: string, members: ReadonlySet<string>): Buffer {
  const lines = text.split("\n").map((line) => {
    if (line.trim() === "") return line;
    try {
      return JSON.stringify(JSON.parse(line, masking(members)));
    } catch {
      return MASK;
    }
  });
  return Buffer.from(lines.join("\n"));
}

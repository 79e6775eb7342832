/** Takes secrets out of what the journal keeps, before it is kept. */
import { createRouter, type Router } from "./router.ts";
import type { AnyTwinDefinition } from "./twin.ts";

export const MASK = "***";

/** Headers that carry credentials whatever the vendor. */
const SECRET_HEADERS = ["authorization", "proxy-authorization", "x-api-key", "cookie", "set-cookie"];

export type Headers = Record<string, string | string[] | number | undefined>;

export interface Mask {
  headers(headers: Headers): Record<string, string>;
  path(path: string): string;
  query(query: URLSearchParams): Record<string, string>;
  /** A body with the values of secret members masked; the same buffer when it holds none. */
  body(body: Buffer, contentType: string): Buffer;
}

type Secrets = Pick<AnyTwinDefinition, "secretHeaders" | "secretMembers" | "secretPathParams">;

/** @param secrets what a twin declares beyond the platform's own list. */
export function createMask(secrets: Secrets): Mask {
  const headers = new Set(
    [...SECRET_HEADERS, ...(secrets.secretHeaders ?? [])].map((name) => name.toLowerCase()),
  );
  const members = new Set(secrets.secretMembers ?? []);
  const paths = createRouter((secrets.secretPathParams ?? []).map((path) => ({ method: "", path })));
  // An escape could spell a member's name in a way that a search for its bytes would miss.
  const traces = members.size > 0 ? [...members, "\\u"].map((name) => Buffer.from(name)) : [];
  return {
    headers(given) {
      const shown: Record<string, string> = {};
      for (const [name, value] of Object.entries(given)) {
        if (value === undefined) continue;
        shown[name] = headers.has(name.toLowerCase())
          ? MASK
          : Array.isArray(value)
            ? value.join(", ")
            : String(value);
      }
      return shown;
    },
    path: (path) => maskPath(path, paths),
    query(query) {
      const shown: Record<string, string> = {};
      for (const [name, value] of query) {
        shown[name] = members.has(name) || headers.has(name.toLowerCase()) ? MASK : value;
      }
      return shown;
    },
    body(body, contentType) {
      if (!traces.some((trace) => body.includes(trace))) return body;
      return maskBody(body, contentType, members);
    },
  };
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

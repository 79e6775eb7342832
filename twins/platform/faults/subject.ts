/** What a fault is matched against: a request or a WebSocket upgrade. */
import type { IncomingHttpHeaders } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { readJson } from "../base/json.ts";
import { matchesPattern } from "../base/star-pattern.ts";
import type { FaultMatch } from "./fault.ts";

export interface FaultSubject {
  operation: string;
  method: string;
  /** Below the twin's `url`, still percent-encoded. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Whether the request meets every condition of `match`. */
export function matches(match: FaultMatch, subject: FaultSubject): boolean {
  if (match.method !== undefined && match.method !== subject.method) return false;
  if (match.path !== undefined && !matchesPattern(subject.path, match.path)) return false;
  for (const [name, value] of Object.entries(match.headers ?? {})) {
    if (headerOf(subject.headers, name) !== value) return false;
  }
  return match.json === undefined || matchesJson(match.json, subject.body);
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(", ") : value;
}

function matchesJson(expected: Record<string, unknown>, body: Buffer): boolean {
  const json = readJson(body);
  if (!json.ok) return false;
  return Object.entries(expected).every(([path, value]) =>
    isDeepStrictEqual(memberAt(json.value, path.split(".")), value),
  );
}

function memberAt(value: unknown, path: readonly string[]): unknown {
  let member = value;
  for (const name of path) {
    if (typeof member !== "object" || member === null || !Object.hasOwn(member, name)) return undefined;
    member = Reflect.get(member, name);
  }
  return member;
}

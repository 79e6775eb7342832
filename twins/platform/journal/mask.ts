/** Masks secrets before the journal stores anything. */

import { emptyRecord } from "../base/lookup-table.ts";
import { createRouter, type Router } from "../http/router.ts";
import { KnownSecrets, PlatformKeys } from "./known-secrets.ts";

export const MASK = "***";

/** Headers that carry credentials whatever the vendor. */
const SECRET_HEADERS = ["authorization", "proxy-authorization", "x-api-key", "cookie", "set-cookie"];

export type Headers = Record<string, string | string[] | number | undefined>;

export interface Mask {
  /** Adds credentials that are masked wherever they appear. */
  know(credentials: readonly string[]): void;
  headers(headers: Headers): Record<string, string>;
  path(path: string): string;
  query(query: URLSearchParams): Record<string, string>;
  /**
   * The first bytes of a body, with the values of secret members and all known credentials masked; without secrets, a
   * slice of the same buffer.
   * @returns at most `maxBytes`; `cut` says whether the body had more
   */
  body(body: Buffer, contentType: string, maxBytes: number): { bytes: Buffer; cut: boolean };
}

/** The members of a twin's definition that declare its secrets. */
interface Secrets {
  secretHeaders?: string[];
  secretMembers?: string[];
  secretPathParams?: string[];
}

/**
 * Creates a mask. It learns credentials from secret headers, and masks them from then on wherever they appear.
 * @param secrets declared by a twin, beyond the platform's own list
 * @param keys of the control plane, shared by all masks; default none
 */
export function createMask(secrets: Secrets, keys = new PlatformKeys(MASK)): Mask {
  const known = new KnownSecrets(MASK, keys);
  const headers = new Set(
    [...SECRET_HEADERS, ...(secrets.secretHeaders ?? [])].map((name) => name.toLowerCase()),
  );
  const members = new Set(secrets.secretMembers ?? []);
  const paths = createRouter((secrets.secretPathParams ?? []).map((path) => ({ method: "", path })));
  // With `\u`, since a search for a name's bytes would miss an escaped spelling.
  const traces = [...members, "\\u"].map((name) => Buffer.from(name));
  const secret = secretMembers(members);
  const isSecret = (text: string) => known.inText(text) !== text;
  return {
    know: (credentials) => known.declare(credentials),
    headers(given) {
      const shown = emptyRecord<string>();
      for (const [name, value] of Object.entries(given)) {
        if (value === undefined) continue;
        const text = Array.isArray(value) ? value.join(", ") : String(value);
        const secret = headers.has(name.toLowerCase());
        if (secret) known.learn(text);
        if (keys.hasUnseen) keys.recognize(valuesOf(text));
        shown[name] = secret ? MASK : text;
      }
      // After the loop, so that credentials learned from a later header are masked in earlier ones.
      for (const name in shown) shown[name] = known.inText(shown[name] ?? "");
      return shown;
    },
    path(path) {
      if (keys.hasUnseen) keys.recognize(path.split("/").map(decodeSegment));
      const masked = known.inText(maskPath(path, paths));
      if (!masked.includes("%")) return masked;
      const segments = masked.split("/");
      return segments.map((segment) => (isSecret(decodeSegment(segment)) ? MASK : segment)).join("/");
    },
    query(query) {
      const shown = emptyRecord<string>();
      if (keys.hasUnseen) {
        for (const [name, value] of query) keys.recognize([name, ...valuesOf(value)]);
      }
      for (const [name, value] of query) {
        const secret = members.has(name) || headers.has(name.toLowerCase());
        shown[known.inText(name)] = secret ? MASK : known.inText(value);
      }
      return shown;
    },
    body(body, contentType, maxBytes) {
      if (keys.hasUnseen) recognizeIn(body, contentType, maxBytes, keys);
      // Masking changes the length: the margin holds any secret that the cut goes through.
      const margin = known.maxBytes * MASK.length;
      const whole = body.length <= maxBytes + margin;
      const beginning = whole ? body : body.subarray(0, maxBytes + margin);
      // A member's name precedes its value: without a name in the beginning, no secret member starts there.
      const mayBeEscaped = isForm(contentType) && beginning.includes("%");
      if (mayBeEscaped || traces.some((trace) => beginning.includes(trace))) {
        const masked = maskBody(body, contentType, secret, maxBytes + margin);
        return maskAndCut(Buffer.from(masked.text), masked);
      }
      return maskAndCut(beginning, { whole });

      function maskAndCut(bytes: Buffer, { whole }: { whole: boolean }): { bytes: Buffer; cut: boolean } {
        const masked = known.inBytes(bytes);
        if (whole) return cutTo(masked, maxBytes);
        return { bytes: masked.subarray(0, Math.min(maxBytes, masked.length - margin)), cut: true };
      }
    },
  };
}

function isForm(contentType: string): boolean {
  return contentType.startsWith("application/x-www-form-urlencoded");
}

/** Looks for keys of the control plane in the beginning of a body. */
function recognizeIn(body: Buffer, contentType: string, maxBytes: number, keys: PlatformKeys): void {
  const text = body.toString("utf8", 0, maxBytes);
  if (isForm(contentType)) keys.recognize(new URLSearchParams(text).values());
  keys.recognizeWithin(text);
  if (text.includes("\\u")) keys.recognizeWithin(text.replace(UNICODE_ESCAPE, unescapeUnicode));
}

const UNICODE_ESCAPE = /\\u([0-9a-fA-F]{4})/g;

function unescapeUnicode(_escape: string, code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16));
}

/** The candidates for a key in a header or query value: the value, its last word, and the user and password of `Basic`. */
function valuesOf(text: string): string[] {
  const word = text.slice(text.lastIndexOf(" ") + 1);
  if (!/^basic /i.test(text)) return [text, word];
  const decoded = Buffer.from(word, "base64").toString("utf8");
  const colon = decoded.indexOf(":");
  return [text, word, decoded.slice(0, Math.max(colon, 0)), decoded.slice(colon + 1)];
}

/** A segment of a path, decoded; unchanged if it is malformed. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function cutTo(bytes: Buffer, maxBytes: number): { bytes: Buffer; cut: boolean } {
  const cut = bytes.length > maxBytes;
  return { bytes: cut ? bytes.subarray(0, maxBytes) : bytes, cut };
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

/** Text with the values of secret members masked; `whole` is false when only its beginning was processed. */
interface MaskedText {
  text: string;
  whole: boolean;
}

/** @param enough bytes of lines to process; lines beyond them are dropped */
function maskBody(body: Buffer, contentType: string, members: SecretMembers, enough: number): MaskedText {
  const text = body.toString("utf8");
  if (isForm(contentType)) {
    return { text: maskForm(text, members.names), whole: true };
  }
  const newline = text.indexOf("\n", enough);
  const lines = newline < 0 ? text : text.slice(0, newline);
  // Fast path: no secret member's name appears anywhere.
  if (!members.trace.test(lines) && isJsonLines(lines)) return { text: lines, whole: newline < 0 };
  const masked = maskJson(text, members);
  return masked === undefined ? maskLines(text, members, enough) : { text: masked, whole: true };
}

/** Whether lines are JSON, each or all together. May answer false for valid JSON. */
function isJsonLines(lines: string): boolean {
  try {
    JSON.parse(`[${lines.trim().replaceAll("\n", ",\n")}]`);
    return true;
  } catch {
    return false;
  }
}

/** @returns `undefined` for text that is not JSON */
function maskJson(text: string, members: SecretMembers): string | undefined {
  try {
    if (members.trace.test(text)) return JSON.stringify(JSON.parse(text, createReplacer(members.names)));
    JSON.parse(text);
    return text;
  } catch {
    return undefined;
  }
}

/** Names of the members of JSON whose values are secret. */
interface SecretMembers {
  names: ReadonlySet<string>;
  /** Finds candidates quickly: visiting every member takes ten times as long. */
  trace: RegExp;
}

function secretMembers(names: ReadonlySet<string>): SecretMembers {
  const written = [...names].map((name) => JSON.stringify(name).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return { names, trace: new RegExp([...written, "\\\\u"].join("|")) };
}

function createReplacer(names: ReadonlySet<string>): (name: string, value: unknown) => unknown {
  return (name, value) => (names.has(name) && value !== null ? MASK : value);
}

function maskForm(text: string, names: ReadonlySet<string>): string {
  const form = new URLSearchParams(text);
  for (const name of new Set(form.keys())) if (names.has(name)) form.set(name, MASK);
  return form.toString();
}

/** Newline-delimited JSON line by line; a line that is not JSON cannot be searched, so it is masked whole. */
function maskLines(text: string, members: SecretMembers, enough: number): MaskedText {
  const masked: string[] = [];
  let length = 0;
  let from = 0;
  while (from <= text.length && length <= enough) {
    const end = text.indexOf("\n", from);
    const line = end < 0 ? text.slice(from) : text.slice(from, end);
    const shown = line.trim() === "" ? line : (maskJson(line, members) ?? MASK);
    masked.push(shown);
    length += shown.length + 1;
    from += line.length + 1;
  }
  return { text: masked.join("\n"), whole: from > text.length };
}

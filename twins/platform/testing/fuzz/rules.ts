/** What every answer has to be, whatever was asked. */
import { type Answer, type FuzzRequest, MAX_KEPT_CHARS } from "./request.ts";

export const TOO_SLOW = "answered too late";

/** What an answer is held against beside its request. */
export interface Limits {
  /** Folders of this machine, which no answer names. */
  folders: readonly string[];
  /** Longest an answer may take. */
  slowMs: number;
}

/** Why an answer is wrong; the same rule broken in the same way has the same text. */
export type Verdict = string | undefined;

/** Names a status that may come although it is above 499, or says why a refusal has not the vendor's shape. */
export interface Shape {
  /** @returns what is wrong with the body of a refusal */
  refusal(answer: Answer, request: FuzzRequest): Verdict;
  /** Statuses above 499 that the vendor's own API has for these requests. */
  allowed?: (answer: Answer, request: FuzzRequest) => boolean;
}

/** Words of the parts inside: the database's, Node's, those of files and of libraries. */
const INNER_WORDS: readonly RegExp[] = [
  /duckdb/i,
  /\b(Binder|Catalog|Conversion|Invalid Input|Out of Memory|Out of Range|INTERNAL|Constraint|TransactionContext) Error\b/,
  /\b(Parser|IO|Not implemented|Permission|Serialization|Mismatch Type|Dependency|Sequence) Error:/,
  /\b(out of range for the destination type|subqueries in lambda|Candidate functions:|LINE \d+: )/,
  /\b(Type|Reference|Range|Syntax|Zod|Assertion)Error\b/,
  /\bnode:[a-z]+|node_modules|file:\/\/\//,
  /(\n|\\n)[ \t]+at (async )?[\w.<>$ ]+ \([^)\s]+:\d+\)/,
  /\bE(NOENT|PIPE|MFILE|ACCES|ISDIR|BADF)\b/,
  /Cannot read propert|is not a function|is not iterable|\[object Object\]|\bundefined\b is/,
  /pg_catalog|read_csv|read_json|information_schema/,
];

/** What twins say of a failure that is their own, in answers with a status below 500. */
const OWN_FAILURES: readonly RegExp[] = [
  // An item of many that failed: the answer as a whole is a 200.
  /the twin failed; its log says why/,
  // A search that failed for a reason that is the twin's own: it too is answered with 200.
  /Search process did not exit cleanly/,
];

/** @returns the words of a part inside in an answer's body, unless the client itself has written them */
export function innerWords(request: FuzzRequest, body: string): string | undefined {
  return findOwnWords(INNER_WORDS, request, body);
}

function findOwnWords(
  words: readonly RegExp[],
  { path, body }: FuzzRequest,
  answer: string,
): string | undefined {
  const given = `${path} ${body?.toString() ?? ""}`;
  for (const word of words) {
    const [found] = word.exec(answer) ?? [];
    if (found !== undefined && !given.includes(found)) return found;
  }
  return undefined;
}

export function judge(
  request: FuzzRequest,
  answer: Answer,
  shape: Shape,
  { folders, slowMs }: Limits,
): Verdict {
  const { status, body, tookMs } = answer;
  if (status >= 500 && shape.allowed?.(answer, request) !== true) return `status ${status}: ${essence(body)}`;
  const inner = innerWords(request, body) ?? findOwnWords(OWN_FAILURES, request, body);
  if (inner !== undefined) return `words of a part: ${inner.slice(0, 80)}`;
  const folder = folders.find((one) => body.includes(one));
  if (folder !== undefined) return "a path of this machine";
  if (tookMs > slowMs) return TOO_SLOW;
  if (isWholeJson(request, answer) && !isJson(body)) return `JSON that is none, status ${status}`;
  if (status >= 400 && status < 500 && request.method !== "HEAD") return shape.refusal(answer, request);
  return undefined;
}

/** What was cut here cannot be looked at, and an export is one JSON document after the other, as the vendor's is. */
function isWholeJson({ path }: FuzzRequest, { headers, body }: Answer): boolean {
  const type = headers["content-type"] ?? "";
  return (
    /\bjson\b/.test(type) &&
    !type.includes("ndjson") &&
    body !== "" &&
    body.length < MAX_KEPT_CHARS &&
    !path.includes("/export")
  );
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A refusal in JSON that has one of these members at its top. */
export function jsonRefusal(...members: string[]): Shape["refusal"] {
  return ({ body, status }) => {
    if (!isJson(body)) return `a refusal with ${status} that is no JSON: ${essence(body)}`;
    const value: unknown = JSON.parse(body);
    const names = typeof value === "object" && value !== null ? Object.keys(value) : [];
    // Nothing of what was asked for is there: the vendor says it with nothing.
    if (status === 404 && names.length === 0) return undefined;
    return members.some((member) => names.includes(member))
      ? undefined
      : `a refusal with ${status} and ${names}`;
  };
}

/** A text without what differs from case to case, so that the same fault is found once. */
function essence(body: string): string {
  return body
    .replaceAll(/(?<!\\)"(?:[^"\\]|\\.){40,}"/g, '"…"')
    .replaceAll(/\d+/g, "0")
    .replaceAll(/\s+/g, " ")
    .slice(0, 160);
}

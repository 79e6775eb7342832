/**
 * The vendor validates bodies with NestJS' whitelist pipe: every problem is listed, each as one English sentence that
 * starts with the path of the member. This turns zod's issues into those sentences.
 * Source: the error bodies in https://support.vapi.ai/t/18819419 and class-validator's default messages.
 */
import type { z } from "zod";

export type Checked<Output> = { ok: true; value: Output } | { ok: false; messages: string[] };

/** Validates a body. A refusal carries all of the vendor's sentences, in schema order. */
export function check<Output>(schema: z.ZodType<Output>, body: unknown): Checked<Output> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return { ok: true, value: parsed.data };
  return { ok: false, messages: [...new Set(sentences(parsed.error.issues))] };
}

type Issue = z.core.$ZodIssue;

function sentences(issues: readonly Issue[]): string[] {
  const unknownFirst = [...issues].sort((a, b) => rank(a) - rank(b));
  return unknownFirst.flatMap((issue) => sentence(issue));
}

/** The whitelist runs before the constraints of the same object. */
function rank(issue: Issue): number {
  return issue.code === "unrecognized_keys" ? 0 : 1;
}

function sentence(issue: Issue): string[] {
  if (issue.code === "unrecognized_keys") {
    const prefix = issue.path.map((part) => `${String(part)}.`).join("");
    return issue.keys.map((key) => `${prefix}property ${key} should not exist`);
  }
  return [`${member(issue.path)} ${constraint(issue)}`.trim()];
}

/** `a.b`; an element of a list of plain values is named the way class-validator does, `each value in b`. */
function member(path: PropertyKey[]): string {
  const last = path.at(-1);
  if (typeof last === "number" && path.length > 1) {
    const owner = path.slice(0, -1);
    return `${owner
      .slice(0, -1)
      .map((part) => `${String(part)}.`)
      .join("")}each value in ${String(owner.at(-1))}`;
  }
  return path.map(String).join(".");
}

function constraint(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return typeWords(issue.expected);
    case "invalid_value":
      return `must be one of the following values: ${issue.values.map(String).join(", ")}`;
    case "invalid_union":
      return unionWords(issue);
    case "too_small":
      return sizeWords(issue.origin, "small", issue.minimum);
    case "too_big":
      return sizeWords(issue.origin, "big", issue.maximum);
    case "invalid_format":
      return formatWords(issue);
    default:
      return issue.message;
  }
}

function typeWords(expected: string): string {
  const words: Record<string, string> = {
    string: "must be a string",
    number: "must be a number conforming to the specified constraints",
    int: "must be an integer number",
    boolean: "must be a boolean value",
    array: "must be an array",
    object: "must be an object",
    record: "must be an object",
  };
  return words[expected] ?? `must be ${expected}`;
}

function unionWords(issue: Extract<Issue, { code: "invalid_union" }>): string {
  if ("options" in issue && Array.isArray(issue.options)) {
    return `must be one of the following values: ${issue.options.map(String).join(", ")}`;
  }
  const first = issue.errors[0]?.[0];
  return first === undefined ? "must be a valid value" : constraint(first);
}

function sizeWords(origin: string, side: "small" | "big", limit: number | bigint): string {
  if (origin === "string") {
    return `must be ${side === "small" ? "longer" : "shorter"} than or equal to ${limit} characters`;
  }
  if (origin === "array") {
    return `must contain ${side === "small" ? "at least" : "no more than"} ${limit} elements`;
  }
  return `must not be ${side === "small" ? "less" : "greater"} than ${limit}`;
}

function formatWords(issue: Extract<Issue, { code: "invalid_format" }>): string {
  const { format } = issue;
  if (format === "uuid" || format === "guid") return "must be a UUID";
  if (format === "datetime") return "must be a valid ISO 8601 date string";
  if (format === "url") return "must be a URL address";
  return issue.pattern === undefined
    ? "must be a valid value"
    : `must match ${issue.pattern} regular expression`;
}

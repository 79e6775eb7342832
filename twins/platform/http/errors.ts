/** The error shape of all our own routes: the control plane, the gateway and the engine. */
import { STATUS_CODES } from "node:http";
import type { z } from "zod";
import { readJson } from "../base/json.ts";
import { WorldRefusal, WorldUnavailable } from "../world/world.ts";
import type { Operation, PlatformRefusal, VendorRequest, VendorResponse } from "./operation.ts";

/** One thing that is wrong with a request body or query. */
export interface FieldProblem {
  /** Where, as a path of members (`data.name`); empty for the whole. */
  field: string;
  rule: string;
}

/** `{"error": {"code", "message", "problems"?}}`; `problems` lists everything that is wrong, not the first thing. */
export function errorResponse(
  status: number,
  code: string,
  message: string,
  problems?: readonly object[],
): VendorResponse {
  return { status, body: { error: { code, message, ...(problems ? { problems } : {}) } } };
}

/** Words a refusal of the platform in our own error shape. */
export function ownRefusal(refusal: PlatformRefusal): VendorResponse {
  switch (refusal.kind) {
    case "unknown-path": {
      if (refusal.allowed.length === 0) {
        return errorResponse(404, "not_found", `nothing is served at ${refusal.path}`);
      }
      const allow = refusal.allowed.join(", ");
      const response = errorResponse(405, "method_not_allowed", `${refusal.path} takes ${allow}`);
      return { ...response, headers: { allow } };
    }
    case "malformed-request":
      return errorResponse(400, "malformed_request", refusal.message);
    case "forbidden":
      return errorResponse(403, "forbidden", refusal.message);
    case "body-too-large":
      return errorResponse(413, "body_too_large", `the body may have at most ${refusal.limitBytes} bytes`);
    case "fault":
      return errorResponse(refusal.status, "fault", STATUS_CODES[refusal.status] ?? "a fault");
    case "internal":
      return errorResponse(500, "internal", refusal.message);
  }
}

/** A write the world refused, with all its problems. */
function worldRefusalResponse(refusal: WorldRefusal): VendorResponse {
  return errorResponse(422, "refused", "nothing was changed; see problems", refusal.problems);
}

/** Value of `Retry-After` when the world is unavailable. */
const RETRY_AFTER_SECONDS = "1";

/** 503: the world is unavailable; the same request may succeed later. */
export function unavailableResponse({ message }: WorldUnavailable): VendorResponse {
  return {
    ...errorResponse(503, "unavailable", message),
    headers: { "retry-after": RETRY_AFTER_SECONDS },
  };
}

export type Reading<Value> = { ok: true; value: Value } | { ok: false; response: VendorResponse };

/**
 * Reads a JSON body by a schema; an absent body is read as `undefined`. Not JSON → 400, not what is expected → 422.
 * @param example a body that the route takes, which a refusal shows
 */
export function readBodyAs<Value>(
  request: Pick<VendorRequest, "body">,
  schema: z.ZodType<Value>,
  example?: string,
): Reading<Value> {
  const json = readBody(request);
  if (!json.ok) return json;
  const message = example === undefined ? WRONG_BODY : `${WRONG_BODY}; it takes for example ${example}`;
  return readingOf(schema.safeParse(json.value), message);
}

/** `readBodyAs` for a schema with asynchronous checks. */
export async function readBodyAsync<Value>(
  request: VendorRequest,
  schema: z.ZodType<Value>,
): Promise<Reading<Value>> {
  const json = readBody(request);
  return json.ok ? readingOf(await schema.safeParseAsync(json.value), WRONG_BODY) : json;
}

const WRONG_BODY = "the body is not what this route takes";

function readBody({ body }: Pick<VendorRequest, "body">): Reading<unknown> {
  const json = readJson(body);
  return json.ok ? json : { ok: false, response: errorResponse(400, "malformed_json", json.message) };
}

/** No member, parameter or column has this name. */
const NO_NAME = "__proto__";

/**
 * Reads the query string by a schema of its parameters.
 * @param repeatable parameters that may be given several times; their values are read as an array
 */
export function readQueryAs<Value>(
  request: VendorRequest,
  schema: z.ZodType<Value>,
  repeatable: readonly string[] = [],
): Reading<Value> {
  const message = "the query is not what this route takes";
  const names = [...request.query.keys()];
  const repeated = [
    ...new Set(names.filter((name, index) => names.indexOf(name) !== index && !repeatable.includes(name))),
  ];
  const problems = repeated.map((field) => ({ field, rule: "is given more than once" }));
  // zod's records drop `__proto__` silently, so it is refused here.
  if (names.includes(NO_NAME)) problems.push({ field: NO_NAME, rule: "there is no such key here" });
  if (problems.length > 0) {
    return { ok: false, response: errorResponse(422, "invalid", message, problems) };
  }
  const lists = repeatable.filter((name) => names.includes(name));
  const values = {
    ...Object.fromEntries(request.query),
    ...Object.fromEntries(lists.map((name) => [name, request.query.getAll(name)])),
  };
  return readingOf(schema.safeParse(values), message);
}

function readingOf<Value>(reading: z.ZodSafeParseResult<Value>, message: string): Reading<Value> {
  if (reading.success) return { ok: true, value: reading.data };
  return { ok: false, response: errorResponse(422, "invalid", message, fieldProblems(reading.error)) };
}

/** Everything zod found, with the place of each. */
export function fieldProblems(error: z.ZodError): FieldProblem[] {
  return placedIssues(error).map(({ path, rule }) => ({ field: path.map(String).join("."), rule }));
}

/** The issues of an error; an unknown key is an issue of its own, at the key itself. */
export function placedIssues(error: z.ZodError): { path: PropertyKey[]; rule: string }[] {
  return error.issues.flatMap((issue) => {
    if (issue.code !== "unrecognized_keys") return [{ path: issue.path, rule: issue.message }];
    return issue.keys.map((key) => ({ path: [...issue.path, key], rule: "there is no such key here" }));
  });
}

/** Wraps an operation so that it answers a refused write with 422, and an unavailable world with 503. */
export function answeringWorldErrors<Target>(operation: Operation<Target>): Operation<Target> {
  return {
    ...operation,
    async handle(request, target) {
      try {
        return await operation.handle(request, target);
      } catch (error) {
        if (error instanceof WorldRefusal) return worldRefusalResponse(error);
        if (error instanceof WorldUnavailable) return unavailableResponse(error);
        throw error;
      }
    },
  };
}

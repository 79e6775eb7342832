/** Reads a fault from the body of `POST /sim/faults`, and checks it against the faults that the twin supports. */
import { z } from "zod";
import { fieldProblems } from "../http/errors.ts";
import type { AnyTwinDefinition } from "../twin/twin.ts";
import { connectionEffects } from "./connection-effects.ts";
import { type Fault, requestEffects, socketEffects } from "./fault.ts";

/** Limit of a delay, and of the wait before a socket is dropped or frozen. */
const MAX_DELAY_MS = 600_000;
const MAX_COUNT = 1_000_000;
const MAX_TTL_SECONDS = 86_400;
const MAX_SEED = 2 ** 32 - 1;
const MAX_MATCHES = 20;
const MAX_TEXT = 2000;

export type FaultReading =
  | { ok: true; fault: Fault }
  | { ok: false; problems: { field: string; rule: string }[] };

/** Reads a fault, or lists every problem in it. */
export function readFault(value: unknown, definition: AnyTwinDefinition): FaultReading {
  const schemas = schemasOf(definition);
  const effect = typeof value === "object" && value !== null ? Reflect.get(value, "effect") : undefined;
  const schema = schemas.find(({ name }) => name === effect)?.schema;
  if (schema) {
    const reading = schema.safeParse(value);
    if (reading.success) return { ok: true, fault: reading.data };
    return { ok: false, problems: fieldProblems(reading.error) };
  }
  const reading = unknownEffect.safeParse(value);
  return { ok: false, problems: reading.error ? fieldProblems(reading.error) : [] };
}

/** A refinement instead of `z.int()`: when `z.int()` fails, zod skips the checks across members. */
const count = (min: number, max = MAX_COUNT) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .number({ error })
    .refine((given) => Number.isInteger(given) && given >= min && given <= max, { error });
};
const text = z.string("must be a text").min(1).max(MAX_TEXT);
/** The message for a value of the wrong type; other problems have their own. */
const mustBe = (what: string) => (issue: { code?: string }) =>
  issue.code === "invalid_type" ? `must be ${what}; leave it out to match any` : undefined;

const match = z
  .strictObject(
    {
      method: z
        .enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"], { error: "must be a method, in capitals" })
        .optional(),
      path: text
        .startsWith("/", { error: "must begin with /; * stands for any text" })
        .refine((path) => !path.includes("?"), "is compared without the query, so no ? can be in it")
        .optional(),
      headers: z
        .record(text, z.string("must be a text").max(MAX_TEXT), {
          error: mustBe("an object of header names and values"),
        })
        .optional(),
      json: z
        .record(text, z.json(), { error: mustBe("an object of paths in the body and values") })
        .optional(),
    },
    { error: mustBe("an object of method, path, headers and json") },
  )
  .refine(({ headers, json }) => Object.keys({ ...headers, ...json }).length <= MAX_MATCHES, {
    message: `names at most ${MAX_MATCHES} headers and members`,
    when: isObject,
  });

const probabilityError = "must be above 0 and at most 1";
const scope = {
  match: match.optional(),
  after: count(0).optional(),
  probability: z
    .number({ error: probabilityError })
    .positive(probabilityError)
    .max(1, probabilityError)
    .optional(),
  seed: count(0, MAX_SEED).optional(),
  times: count(1).optional(),
  delay_ms: count(0, MAX_DELAY_MS).optional(),
  ttl_seconds: count(1, MAX_TTL_SECONDS).optional(),
};
const afterMs = count(0, MAX_DELAY_MS);
const retryAfter = count(0, 86_400);
const bytesPerSecond = count(1);
const sentBytes = count(0, 1024 ** 3);
const moments = ["request", "response", "body"] as const;
const moment = z.enum(moments, { error: oneOf("moment", moments) });

const effects = [...requestEffects, ...socketEffects];
const unknownEffect = z.looseObject(
  { ...scope, effect: z.enum(effects, { error: oneOf("effect", effects) }) },
  { error: "must be an object with an effect" },
);

/**
 * A fault of any twin, for programs that describe one to others. Which operations, effects and statuses there are, and
 * what goes together, is checked by the twin.
 */
export const anyFault = z.strictObject({
  effect: z.enum(effects, { error: oneOf("effect", effects) }),
  operation: text
    .optional()
    .describe("the one operation it is for, as in the journal; either operation or all is there"),
  all: z.literal(true, { error: "must be true, or absent" }).optional().describe("it is for every operation"),
  match: match.optional().describe("only requests like this; * in path is any text"),
  after: count(0).optional().describe("lets the first so many pass"),
  probability: scope.probability.describe("hits this share of them"),
  seed: scope.seed.describe("the same seed hits the same ones"),
  times: count(1).optional().describe("hits the next so many; default: all until it is removed"),
  delay_ms: scope.delay_ms.describe("waits before the effect; of slow: how late the answer is"),
  ttl_seconds: scope.ttl_seconds.describe("is removed by itself after so many seconds"),
  status: z.number().optional().describe("of status, refuse_upgrade: the HTTP status"),
  retry_after: retryAfter.optional().describe("of status, refuse_upgrade: seconds"),
  at: moment.optional().describe("of reset: nothing, all, or half of the answer was done"),
  bytes_per_second: bytesPerSecond.optional().describe("of slow"),
  bytes: sentBytes.optional().describe("of truncate: how many are sent; default half"),
  after_ms: afterMs.optional().describe("of drop, freeze"),
  code: z.number().optional().describe("of drop: the close code; without one there is no close frame"),
});

/** Runs a check across members whenever the value is an object, even if a member is invalid. */
function isObject({ value }: { value: unknown }): boolean {
  return typeof value === "object" && value !== null;
}

function oneOf(what: string, known: readonly (string | number)[]): string {
  return known.length > 0 ? `must be one of ${known.join(", ")}` : `this twin has no ${what}`;
}

type Refinable = z.ZodType<Fault>;
const compiled = new WeakMap<AnyTwinDefinition, { name: string; schema: Refinable }[]>();

function schemasOf(definition: AnyTwinDefinition) {
  let schemas = compiled.get(definition);
  if (!schemas) {
    schemas = compile(definition);
    compiled.set(definition, schemas);
  }
  return schemas;
}

function compile(definition: AnyTwinDefinition): { name: string; schema: Refinable }[] {
  const statuses = definition.faultStatuses ?? [];
  const status = z
    .number({ error: oneOf("status that can be armed", statuses) })
    .refine((given) => statuses.includes(given), { error: oneOf("status that can be armed", statuses) });
  const retry_after = retryAfter.optional();
  const requests = { ...scope, ...targetOf(definition.operations, "HTTP operation") };
  const { connections = [] } = definition;
  if (connections.length > 0) return compileConnections(definition, connections);
  const sockets = { ...scope, ...targetOf(definition.sockets ?? [], "WebSocket operation") };
  const code = z.number({ error: closeCodeError }).refine(mayBeSent, { error: closeCodeError }).optional();
  const at = moment.default("request");
  const schemas = {
    status: withScope({ ...requests, effect: z.literal("status"), status, retry_after }),
    reset: withScope({ ...requests, effect: z.literal("reset"), at }),
    hang: withScope({ ...requests, effect: z.literal("hang") }),
    slow: withScope({
      ...requests,
      effect: z.literal("slow"),
      bytes_per_second: bytesPerSecond.optional(),
    }).refine((fault) => fault.delay_ms !== undefined || fault.bytes_per_second !== undefined, {
      message: "a slow answer needs delay_ms, bytes_per_second or both",
      when: isObject,
    }),
    truncate: withScope({
      ...requests,
      effect: z.literal("truncate"),
      bytes: sentBytes.optional(),
    }),
    refuse_upgrade: withScope({ ...sockets, effect: z.literal("refuse_upgrade"), status, retry_after }),
    drop: withScope({ ...sockets, effect: z.literal("drop"), after_ms: afterMs.default(0), code }),
    freeze: withScope({ ...sockets, effect: z.literal("freeze"), after_ms: afterMs.default(0) }),
  };
  return Object.entries(schemas).map(([name, schema]) => ({ name, schema }));
}

/** The faults of connections that are not HTTP: fewer effects, and only when a request arrives. */
function compileConnections(
  { vendor }: AnyTwinDefinition,
  connections: readonly { id: string }[],
): { name: string; schema: Refinable }[] {
  const target = { ...scope, ...targetOf(connections, "operation") };
  const error = "there is one moment here, request: before anything is passed on";
  const delay_ms = count(1, MAX_DELAY_MS);
  const schemas = {
    reset: withScope({
      ...target,
      effect: z.literal("reset"),
      at: z.literal("request", { error }).default("request"),
    }),
    hang: withScope({ ...target, effect: z.literal("hang") }),
    slow: withScope({ ...target, effect: z.literal("slow"), delay_ms }),
  };
  const known = oneOf("effect", connectionEffects);
  const none = z.looseObject({
    ...target,
    effect: z.never({ error: `${vendor} is not reached over HTTP: ${known}` }),
  });
  const others = effects.filter((effect) => !(effect in schemas)).map((name) => ({ name, schema: none }));
  return [...Object.entries(schemas).map(([name, schema]) => ({ name, schema })), ...others];
}

function targetOf(operations: readonly { id: string }[], kind: string) {
  const ids = operations.map(({ id }) => id);
  const error = oneOf(kind, ids);
  const all = z.literal(true, { error: "must be true, or absent" });
  return {
    operation: z
      .string({ error })
      .refine((id) => ids.includes(id), { error })
      .optional(),
    all: (ids.length > 0 ? all : all.refine(() => false, { error })).optional(),
  };
}

/** Requires a fault to name its scope, so that it never strikes an unexpected request. */
function withScope<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z
    .strictObject(shape)
    .refine((fault) => "operation" in fault !== "all" in fault, {
      path: ["operation"],
      message: "say what it is for: either operation, or all: true",
      when: isObject,
    })
    .refine((fault) => !("seed" in fault) || "probability" in fault, {
      path: ["seed"],
      message: "is for a probability, and there is none",
      when: isObject,
    });
}

const closeCodeError =
  "must be a close code that may be sent: 1000 to 1003, 1007 to 1014, or 3000 to 4999; leave it out to end without a close frame";

function mayBeSent(code: number): boolean {
  if (code >= 3000) return Number.isInteger(code) && code <= 4999;
  return Number.isInteger(code) && code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code);
}

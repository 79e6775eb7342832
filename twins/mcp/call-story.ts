/** A call as a sequence of entries: what was said, and each tool with its result and what it asked of other twins. */
import { z } from "zod";
import { excerptOf } from "./bounds.ts";
import type { ControlPlanes } from "./project.ts";
import { requestPage } from "./tools/journal.ts";

/** What the agent reports to, and what calls the agent: neither is caused by a tool. */
const AROUND_THE_CALL = new Set(["vapi", "engine"]);
/** A request is noted a moment before or after the tool's own record. */
const SLACK_MS = 20;
const MAX_SEARCHED = 1_000;
const MAX_REQUESTS = 20;

const message = z.looseObject({
  position: z.number(),
  role: z.enum(["user", "assistant", "tool_call", "tool_result", "unrecognised"]),
  text: z.string(),
  name: z.string().nullable(),
  arguments: z.unknown(),
  tool_call_id: z.string().nullable(),
  start_ms: z.number().nullable(),
  end_ms: z.number().nullable(),
  recorded_at: z.string().nullable(),
  latency: z.unknown(),
  interrupted: z.boolean().default(false),
  /** What was sent to the agent's webhook, and what came of each attempt. */
  webhook: z
    .object({
      url: z.string(),
      request: z.unknown(),
      attempts: z.array(z.looseObject({ answer: z.unknown() })),
    })
    .nullable(),
});
type Message = z.output<typeof message>;

/** A call, as `/sim/calls/{id}` answers it. */
export const callDetails = z.looseObject({
  id: z.string(),
  messages: z.array(message),
  events: z.unknown(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
});
type CallHead = Pick<z.output<typeof callDetails>, "id" | "started_at" | "ended_at">;

/** Something said, or a tool with its result. */
export interface Entry {
  message: Message;
  /** Of a tool; `undefined` when none came. */
  result?: Message | undefined;
}

/** Puts each tool's result beside its call. */
export function entriesOf(messages: readonly Message[]): Entry[] {
  const results = new Map(
    messages.filter(({ role }) => role === "tool_result").map((each) => [each.tool_call_id, each]),
  );
  return messages
    .filter(({ role }) => role !== "tool_result")
    .map((each) =>
      each.role === "tool_call"
        ? { message: each, result: results.get(each.tool_call_id) }
        : { message: each },
    );
}

type Requests = z.output<typeof requestPage>["requests"];

/**
 * An entry for a list.
 * @param maxCharacters of a value
 */
export function describeEntry({ message: said, result }: Entry, requests: Requests, maxCharacters: number) {
  const cut = (value: unknown) => excerptOf(value, maxCharacters);
  if (said.role !== "tool_call") {
    const { role, text, start_ms, end_ms, latency, interrupted } = said;
    const speaker = { user: "caller", assistant: "agent", unrecognised: "unrecognised" }[
      role === "tool_result" ? "unrecognised" : role
    ];
    return {
      kind: speaker,
      text: cut(text),
      start_ms,
      end_ms,
      ...(latency ? { latency } : {}),
      ...(interrupted ? { interrupted } : {}),
    };
  }
  return {
    kind: "tool",
    name: said.name,
    arguments: cut(said.arguments),
    result: result === undefined ? null : cut(readResult(result.text)),
    start_ms: said.start_ms,
    took_ms: tookMs({ message: said, result }),
    webhook: said.webhook && {
      url: said.webhook.url,
      attempts: said.webhook.attempts.map((attempt) => ({ ...attempt, answer: cut(attempt.answer) })),
    },
    requests: requests
      .slice(0, MAX_REQUESTS)
      .map(({ twin, seq, method, path, status, duration_ms, sql, fault }) => ({
        ...{ twin, seq, method, path, status, duration_ms },
        ...(sql === null ? {} : { sql: cut(sql) }),
        ...(fault === null ? {} : { fault }),
      })),
    ...(requests.length > MAX_REQUESTS ? { more_requests: requests.length - MAX_REQUESTS } : {}),
  };
}

/** An entry with everything that is kept of it, what was sent to the webhook included. */
export function wholeEntry(entry: Entry, requests: Requests) {
  const described = describeEntry(entry, requests, Number.POSITIVE_INFINITY);
  return entry.message.webhook ? { ...described, webhook: entry.message.webhook } : described;
}

function tookMs({ message: call, result }: Entry): number | null {
  if (!call.recorded_at || !result?.recorded_at) return null;
  return Date.parse(result.recorded_at) - Date.parse(call.recorded_at);
}

/** A tool's result as JSON, where it is. */
function readResult(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * The requests to other twins while tools ran, told by their time.
 * @returns of each entry its requests, and notes on how sure they are
 */
export async function readCaused(
  planes: ControlPlanes,
  call: CallHead,
  entries: readonly Entry[],
): Promise<{ requestsOf(entry: Entry): Requests; notes: string[] }> {
  const spans = entries.flatMap((entry) => spanOf(entry, call) ?? []);
  if (spans.length === 0) return { requestsOf: () => [], notes: [] };
  const fromMs = Math.min(...spans.map((span) => span.fromMs));
  const toMs = Math.max(...spans.map((span) => span.toMs));
  const clock = z.object({ mode: z.string() }).parse(await planes.ofTwin("GET", "engine", "clock"));
  const isLive = clock.mode === "live";
  const page = requestPage.parse(
    await planes.ofSandbox("GET", "/requests", {
      tier: "vendor",
      order: isLive ? "oldest" : "newest",
      limit: MAX_SEARCHED,
      // The journal's filter is the machine's time; the call's is the sandbox's.
      ...(isLive ? { since: isoOf(fromMs), until: isoOf(toMs) } : {}),
    }),
  );
  const others = page.requests.filter(({ twin }) => !AROUND_THE_CALL.has(twin));
  if (!isLive) others.reverse();
  const notes = isLive ? [] : ["the clock was set: the requests of tools are told by the clock's time"];
  if (page.total > page.requests.length) {
    notes.push(`only ${MAX_SEARCHED} requests were searched for those of tools; read_journal has all`);
  }
  return {
    notes,
    requestsOf(entry) {
      const span = spanOf(entry, call);
      return others.filter(({ simulated_at }) => {
        const ms = Date.parse(simulated_at);
        return span !== undefined && ms >= span.fromMs && ms <= span.toMs;
      });
    },
  };
}

/** From the tool's call to its result; without one, to the end of the call. */
function spanOf({ message: said, result }: Entry, { ended_at }: CallHead) {
  if (said.role !== "tool_call" || !said.recorded_at) return undefined;
  const end = result?.recorded_at ?? ended_at;
  if (end === null || end === undefined) return undefined;
  return { fromMs: Date.parse(said.recorded_at) - SLACK_MS, toMs: Date.parse(end) + SLACK_MS };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** What the webhooks of tool calls were sent and answered, in `/sim/calls/{id}`. */
import { once } from "node:events";
import { createMask } from "@offhook/platform/journal/mask";
import { startWebhookServer, type WebhookServer } from "@offhook/platform/testing/webhook-server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { ToolCall } from "../../providers/provider.ts";
import {
  type PlayedSession,
  playedSessions,
  startVoiceRuntime,
  type VoiceRuntime,
  websocketCall,
} from "../../testing/voice-runtime.ts";
import { WebhookExchanges } from "../../webhooks/exchanges.ts";

const SECRET = "hush-hush-token";
const played = playedSessions();
const sockets: WebSocket[] = [];
let hook: WebhookServer;
let runtime: VoiceRuntime;

beforeEach(async () => {
  hook = await startWebhookServer();
  runtime = await startVoiceRuntime({ createSession: played.createSession });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await runtime.stop();
  await hook.stop();
});

async function liveCall(tools: object[]): Promise<PlayedSession> {
  const assistant = { model: { provider: "openai", model: "gpt-4.1", tools } };
  const created = await runtime.api("POST", "/call", websocketCall({ assistant }));
  const socket = new WebSocket(created.body.transport.websocketCallUrl);
  sockets.push(socket);
  await once(socket, "open");
  return played.of(created.body.id);
}

function tool(name: string, server: object): object {
  return { type: "function", function: { name, parameters: { type: "object", properties: {} } }, server };
}

const toolCall = (name: string): ToolCall => ({ id: `call_${name}`, name, arguments: { number: 1041 } });

/** Runs tools as a session does: recorded first, then sent. */
function run({ parts }: PlayedSession, names: readonly string[]) {
  const calls = names.map(toolCall);
  for (const call of calls) parts.record({ role: "tool_call", call, startMs: 100 });
  return parts.runTools(calls, [], new AbortController().signal);
}

/** The webhook of each tool of a call, by name, and the answer as text. */
async function webhooksOf({ plan }: PlayedSession) {
  const { body, text } = await runtime.control("GET", `/calls/${plan.callId}`);
  const entries = body.messages.map((message: { name: string; webhook: unknown }) => [
    message.name,
    message.webhook,
  ]);
  return { webhooks: Object.fromEntries(entries), text };
}

test("a tool call has its request, and every attempt with what was answered", async () => {
  const backoffPlan = { type: "fixed", maxRetries: 1, baseDelaySeconds: 0 };
  const server = { url: `${hook.url}/tool?key=${SECRET}`, headers: { "x-hook": SECRET }, backoffPlan };
  const other = tool("unused", { url: `http://user:${SECRET}@localhost/hook#${SECRET}` });
  const session = await liveCall([tool("incident_status", server), other]);
  hook.answer = () =>
    hook.calls.length === 1
      ? { status: 503, body: "out of order" }
      : {
          body: { results: [{ toolCallId: "call_incident_status", result: `open, says ${SECRET}` }] },
        };
  await run(session, ["incident_status"]);
  const { webhooks, text } = await webhooksOf(session);
  expect(webhooks.incident_status).toMatchObject({
    url: `${hook.url}/tool`,
    request: {
      message: {
        type: "tool-calls",
        toolCallList: [{ id: "call_incident_status", function: { arguments: { number: 1041 } } }],
        toolWithToolCallList: [{ server: { url: `${hook.url}/tool`, headers: "***" } }],
        call: { id: session.plan.callId, transport: { websocketCallUrl: "***" } },
      },
    },
    attempts: [
      { status: 503, answer: "out of order", error: "the server answered 503, not 200" },
      {
        status: 200,
        answer: { results: [{ toolCallId: "call_incident_status", result: "open, says ***" }] },
        error: null,
      },
    ],
  });
  const [first, second] = webhooks.incident_status.attempts;
  expect(first.duration_ms).toBeGreaterThan(0);
  expect(Date.parse(second.at)).toBeGreaterThanOrEqual(Date.parse(first.at));
  expect(text).not.toContain(SECRET);
});

test("tool calls of one request share it, and each has its own error", async () => {
  const server = { url: hook.url };
  const session = await liveCall([tool("one", server), tool("two", server)]);
  hook.answer = () => ({ body: { results: [{ toolCallId: "call_one", result: "fine" }] } });
  await run(session, ["one", "two"]);
  const { webhooks } = await webhooksOf(session);
  expect(webhooks.one.request).toEqual(webhooks.two.request);
  expect(webhooks.one.attempts).toMatchObject([{ status: 200, error: null }]);
  expect(webhooks.two.attempts).toMatchObject([{ status: 200, error: "no result has this toolCallId" }]);
});

test("an attempt without an answer says why, and a tool without a server has no webhook", async () => {
  const gone = await startWebhookServer();
  await gone.stop();
  const session = await liveCall([tool("gone", { url: gone.url }), tool("none", {})]);
  await run(session, ["gone", "none"]);
  const { webhooks } = await webhooksOf(session);
  expect(webhooks.gone.attempts).toMatchObject([
    { status: null, answer: null, error: "the server could not be reached: ECONNREFUSED" },
  ]);
  expect(webhooks.none).toBeNull();
});

test("an attempt that is awaited has no duration yet", async () => {
  const session = await liveCall([tool("slow", { url: hook.url })]);
  let answer: () => void = () => undefined;
  hook.answer = () =>
    new Promise((resolve) => {
      answer = () => resolve({ body: { results: [{ toolCallId: "call_slow", result: "late" }] } });
    });
  const running = run(session, ["slow"]);
  await hook.waitForCount(1);
  const awaited = (await webhooksOf(session)).webhooks.slow;
  expect(awaited.attempts).toMatchObject([{ status: null, duration_ms: null, error: null }]);
  answer();
  await running;
  expect((await webhooksOf(session)).webhooks.slow.attempts).toMatchObject([{ status: 200 }]);
});

test("a snapshot has nothing of it, and a reset forgets it", async () => {
  const session = await liveCall([tool("one", { url: `${hook.url}/in-no-snapshot` })]);
  hook.answer = () => ({ body: { results: [{ toolCallId: "call_one", result: "said-by-the-webhook" }] } });
  await run(session, ["one"]);
  const snapshot = await runtime.control("POST", "/snapshot");
  expect(snapshot.text).not.toContain("said-by-the-webhook");
  await runtime.control("POST", "/reset", { data: snapshot.body.tables });
  const { webhooks } = await webhooksOf(session);
  expect(webhooks).toEqual({ one: null });
});

describe("bounds", () => {
  const begin = (exchanges: WebhookExchanges, callId: string, id: string, bytes = 10) => {
    const server = { url: "http://localhost/tool" };
    const body = JSON.stringify({ filler: "x".repeat(bytes) });
    return exchanges.begin({ callId, toolCallIds: [id], server, body });
  };

  test("a body is kept to 64 KiB, and says how long it was", () => {
    const exchanges = new WebhookExchanges(createMask({}), Date.now);
    const finish = begin(exchanges, "a", "1", 100_000)();
    finish({ kind: "answered", status: 200, text: "y".repeat(200_000) });
    const kept = exchanges.find("a", "1");
    expect(kept?.request).toMatchObject({ truncated: true, originalBytes: 100_013 });
    expect(kept?.request.bytes.length).toBe(65_536);
    expect(kept?.attempts[0]?.answer).toMatchObject({ truncated: true, originalBytes: 200_000 });
  });

  test("of too many calls, the oldest are forgotten", () => {
    const exchanges = new WebhookExchanges(createMask({}), Date.now, { calls: 2, bytes: 1_000_000 });
    for (const callId of ["a", "b", "a", "c"]) begin(exchanges, callId, "1");
    expect(["a", "b", "c"].map((callId) => exchanges.find(callId, "1") !== undefined)).toEqual([
      false,
      true,
      true,
    ]);
  });

  test("beyond the bytes the oldest call is forgotten, and of a single call its oldest exchanges", () => {
    const exchanges = new WebhookExchanges(createMask({}), Date.now, { calls: 9, bytes: 10_000 });
    begin(exchanges, "a", "1", 4_000);
    const finish = begin(exchanges, "b", "1", 2_000)();
    finish({ kind: "answered", status: 200, text: "y".repeat(4_000) });
    expect(exchanges.find("a", "1")).toBeUndefined();
    expect(exchanges.find("b", "1")).toBeDefined();
    begin(exchanges, "b", "2", 4_000);
    expect([exchanges.find("b", "1"), exchanges.find("b", "2")?.toolCallIds]).toEqual([undefined, ["2"]]);
  });

  test("an answer to a request that is forgotten changes nothing", () => {
    const exchanges = new WebhookExchanges(createMask({}), Date.now, { calls: 1, bytes: 10_000 });
    const finish = begin(exchanges, "a", "1")();
    begin(exchanges, "b", "1");
    finish({ kind: "answered", status: 200, text: "y".repeat(9_900) });
    expect(exchanges.find("b", "1")).toBeDefined();
  });
});

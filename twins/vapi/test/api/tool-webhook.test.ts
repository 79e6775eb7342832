/** Tools run on webhooks, within bounds. Proves a part of twins/SECURITY.md. */
import { once } from "node:events";
import { type CapturedLog, captureLog } from "@offhook/platform/testing/log-lines";
import { startWebhookServer, type WebhookServer } from "@offhook/platform/testing/webhook-server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { ConversationMessage, ToolCall } from "../../providers/provider.ts";
import {
  type PlayedSession,
  playedSessions,
  startVoiceRuntime,
  type VoiceRuntime,
  websocketCall,
} from "../../testing/voice-runtime.ts";

const SECRET = "hush-hush-token";
const CONVERSATION: ConversationMessage[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Who is on call?" },
];
let hook: WebhookServer;
let logs: CapturedLog;
let runtime: VoiceRuntime | undefined;
const played = playedSessions();
const sockets: WebSocket[] = [];

beforeEach(async () => {
  hook = await startWebhookServer();
  logs = captureLog();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await runtime?.stop();
  await hook.stop();
});

/** A live call whose assistant has these tools. */
async function liveCall(assistant: object, config: object = {}): Promise<PlayedSession> {
  runtime = await startVoiceRuntime({ createSession: played.createSession, config, log: logs.log });
  const created = await runtime.api("POST", "/call", websocketCall({ assistant }));
  expect(created.body).toMatchObject({ status: "queued" });
  const socket = new WebSocket(created.body.transport.websocketCallUrl);
  sockets.push(socket);
  await once(socket, "open");
  return played.of(created.body.id);
}

function tool(name: string, server?: object, members: object = {}): object {
  const parameters = { type: "object", properties: { service: { type: "string" } } };
  return {
    type: "function",
    function: { name, description: `Does ${name}.`, parameters },
    ...(server ? { server } : {}),
    ...members,
  };
}

function assistantWith(tools: object[], members: object = {}): object {
  const messages = [{ role: "system", content: "Be brief." }];
  return { model: { provider: "openai", model: "gpt-4.1", messages, tools }, ...members };
}

const call = (name: string, id = `call_${name}`): ToolCall => ({
  id,
  name,
  arguments: { service: "checkout" },
});

async function contents(session: PlayedSession, calls: ToolCall[]): Promise<(string | null)[]> {
  const outcomes = await session.parts.runTools(calls, CONVERSATION, new AbortController().signal);
  expect(outcomes.map((outcome) => outcome.call)).toEqual(calls);
  return outcomes.map((outcome) => outcome.content);
}

/** Answers every call of a request with what `answer` makes of its name. */
function answerEach(answer: (name: string) => object): void {
  hook.answer = ({ body }) => ({
    body: {
      results: (body.message.toolCallList ?? []).map((item: { id: string; function: { name: string } }) => ({
        toolCallId: item.id,
        ...answer(item.function.name),
      })),
    },
  });
}

describe("the tool-calls request", () => {
  test("carries every recorded member, to the tool's own server, with its headers", async () => {
    const server = { url: `${hook.url}/tool`, headers: { "x-hook": SECRET }, timeoutSeconds: 5 };
    const session = await liveCall(assistantWith([tool("who_is_on_call", server)]));
    session.parts.record({ role: "user", text: "Who is on call?", startMs: 0, endMs: 1000 });
    answerEach(() => ({ result: '{"engineer":"Ada"}' }));
    expect(await contents(session, [call("who_is_on_call")])).toEqual(['{"engineer":"Ada"}']);

    const [request] = await hook.waitForCount(1);
    expect(request?.path).toBe("/tool");
    expect(request?.headers["x-hook"]).toBe(SECRET);
    const item = {
      id: "call_who_is_on_call",
      type: "function",
      function: { name: "who_is_on_call", arguments: { service: "checkout" } },
    };
    expect(request?.body.message).toMatchObject({
      type: "tool-calls",
      timestamp: expect.any(Number),
      toolCalls: [item],
      toolCallList: [item],
      toolWithToolCallList: [
        {
          type: "function",
          async: false,
          function: {
            name: "who_is_on_call",
            description: "Does who_is_on_call.",
            parameters: expect.any(Object),
          },
          server: { url: `${hook.url}/tool`, timeoutSeconds: 5 },
          messages: [],
          toolCall: item,
        },
      ],
      artifact: {
        messages: [
          { role: "system", message: "Be brief." },
          { role: "user", message: "Who is on call?" },
        ],
        messagesOpenAIFormatted: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "Who is on call?" },
        ],
      },
      call: { id: session.plan.callId, type: "vapi.websocketCall", status: "in-progress" },
      assistant: { model: { provider: "openai" } },
    });
  });

  test("all calls of a step for one server go out in one request; another server gets its own", async () => {
    const shared = { url: `${hook.url}/a` };
    const session = await liveCall(
      assistantWith([tool("one", shared), tool("two", shared), tool("three", { url: `${hook.url}/b` })]),
    );
    answerEach((name) => ({ result: name }));
    expect(await contents(session, [call("one"), call("three"), call("two")])).toEqual([
      "one",
      "three",
      "two",
    ]);
    const requests = await hook.waitForCount(2);
    const lists = requests.map(({ path, body }) => [
      path,
      body.message.toolCallList.map((item: { id: string }) => item.id),
    ]);
    expect(Object.fromEntries(lists)).toEqual({ "/a": ["call_one", "call_two"], "/b": ["call_three"] });
  });

  test("falls back to the assistant's server, with the older secret header", async () => {
    const session = await liveCall(
      assistantWith([tool("one")], { server: { url: `${hook.url}/main`, secret: SECRET } }),
    );
    answerEach(() => ({ result: "ok" }));
    expect(await contents(session, [call("one")])).toEqual(["ok"]);
    const request = await hook.waitFor(({ path }) => path === "/main");
    expect(request.headers["x-vapi-secret"]).toBe(SECRET);
  });

  test.each([
    ["object", ["object", "object"]],
    ["string", ["string", "string"]],
    ["alternate", ["object", "string"]],
  ])("sends arguments as configured: %s", async (form, types) => {
    const session = await liveCall(assistantWith([tool("one", { url: hook.url })]), { tool_arguments: form });
    answerEach(() => ({ result: "ok" }));
    await contents(session, [call("one", "call_1")]);
    await contents(session, [call("one", "call_2")]);
    const requests = await hook.waitForCount(2);
    const sent = requests.map(({ body }) => body.message.toolCallList[0].function.arguments);
    expect(sent.map((value) => typeof value)).toEqual(types);
    for (const value of sent) {
      expect(typeof value === "string" ? JSON.parse(value) : value).toEqual({ service: "checkout" });
    }
  });

  test("nobody waits for an async tool", async () => {
    const session = await liveCall(assistantWith([tool("slow", { url: hook.url }, { async: true })]));
    hook.answer = () => new Promise(() => undefined);
    expect(await contents(session, [call("slow")])).toEqual(["Success."]);
    await hook.waitForCount(1);
  });
});

describe("the answer", () => {
  const answers: [string, { status?: number; body?: unknown }, string | null, string][] = [
    ["a result", { body: { results: [{ toolCallId: "call_one", result: "fine" }] } }, "fine", ""],
    ["an empty result", { body: { results: [{ toolCallId: "call_one", result: "" }] } }, "", ""],
    ["an error text", { body: { results: [{ toolCallId: "call_one", error: "no" }] } }, '{"error":"no"}', ""],
    [
      "a non-200 status",
      { status: 500, body: { results: [{ toolCallId: "call_one", result: "x" }] } },
      null,
      "500",
    ],
    ["201", { status: 201, body: { results: [{ toolCallId: "call_one", result: "x" }] } }, null, "201"],
    ["text that is not JSON", { body: "ok" }, null, "not JSON"],
    ["no results", { body: { result: "x" } }, null, "results"],
    [
      "another toolCallId",
      { body: { results: [{ toolCallId: "call_two", result: "x" }] } },
      null,
      "toolCallId",
    ],
    [
      "an object result",
      { body: { results: [{ toolCallId: "call_one", result: { a: 1 } }] } },
      null,
      "not a string",
    ],
    ["line breaks", { body: { results: [{ toolCallId: "call_one", result: "a\nb" }] } }, null, "line breaks"],
    ["neither result nor error", { body: { results: [{ toolCallId: "call_one" }] } }, null, "neither"],
    ["more than the bound", { body: `"${"x".repeat(1_100_000)}"` }, null, "larger"],
  ];
  test.each(answers)("%s", async (_name, reply, content, reason) => {
    const session = await liveCall(assistantWith([tool("one", { url: `${hook.url}/?key=${SECRET}` })]));
    hook.answer = () => reply;
    expect(await contents(session, [call("one")])).toEqual([content]);
    if (reason !== "") {
      const line = await logs.line(({ msg }) => msg === "no result returned", "why there is no result");
      expect(line).toMatchObject({ tool: "one", reason: expect.stringContaining(reason) });
    }
    expect(logs.text()).not.toContain(SECRET);
  });

  test("a redirect is not followed", async () => {
    const session = await liveCall(assistantWith([tool("one", { url: `${hook.url}/from` })]));
    hook.answer = () => ({ status: 307, headers: { location: `${hook.url}/to` } });
    expect(await contents(session, [call("one")])).toEqual([null]);
    expect(hook.calls.map(({ path }) => path)).toEqual(["/from"]);
  });

  test("an unreachable server, an unknown tool and a tool without a server give no result", async () => {
    const gone = { url: "http://127.0.0.1:1/" };
    const session = await liveCall(assistantWith([tool("one", gone), tool("two")]));
    expect(await contents(session, [call("one"), call("two"), call("three")])).toEqual([null, null, null]);
    const reasons = logs.lines.filter(({ msg }) => msg.startsWith("no result returned"));
    expect(reasons).toHaveLength(3);
  });

  test("a server that takes longer than the tool's own limit gives no result", async () => {
    const session = await liveCall(assistantWith([tool("one", { url: hook.url, timeoutSeconds: 1 })]));
    hook.answer = () => new Promise(() => undefined);
    expect(await contents(session, [call("one")])).toEqual([null]);
    expect(logs.text()).toContain("no answer within 1000 ms");
  });

  test("the end of the call cancels the request", async () => {
    const session = await liveCall(assistantWith([tool("one", { url: hook.url })]));
    hook.answer = () => new Promise(() => undefined);
    const over = new AbortController();
    const running = session.parts.runTools([call("one")], [], over.signal);
    await hook.waitForCount(1);
    over.abort();
    expect(await running).toEqual([{ call: call("one"), content: null }]);
  });
});

describe("retries", () => {
  const plan = (type: string, maxRetries: number, members: object = {}) => ({
    backoffPlan: { type, maxRetries, baseDelaySeconds: 0.1, ...members },
  });

  test("follow the backoff plan with the same toolCallId until an answer is good", async () => {
    const session = await liveCall(
      assistantWith([tool("one", { url: hook.url, ...plan("exponential", 3) })]),
    );
    hook.answer = () =>
      hook.calls.length < 3
        ? { status: 503 }
        : { body: { results: [{ toolCallId: "call_one", result: "at last" }] } };
    expect(await contents(session, [call("one")])).toEqual(["at last"]);
    const requests = hook.calls;
    expect(requests).toHaveLength(3);
    expect(new Set(requests.map(({ body }) => body.message.toolCallList[0].id)).size).toBe(1);
    const [first, second, third] = requests.map(({ receivedAtMs }) => receivedAtMs);
    expect(Number(second) - Number(first)).toBeGreaterThan(95);
    expect(Number(third) - Number(second)).toBeGreaterThan(190);
  });

  test("stop at the plan's limit, and never start for an excluded status", async () => {
    const session = await liveCall(
      assistantWith([
        tool("one", { url: `${hook.url}/one`, ...plan("fixed", 2) }),
        tool("two", { url: `${hook.url}/two`, ...plan("fixed", 2, { excludedStatusCodes: [503] }) }),
      ]),
    );
    hook.answer = () => ({ status: 503 });
    expect(await contents(session, [call("one"), call("two")])).toEqual([null, null]);
    const paths = hook.calls.map(({ path }) => path);
    expect(paths.filter((path) => path === "/one")).toHaveLength(3);
    expect(paths.filter((path) => path === "/two")).toHaveLength(1);
  });
});

describe("server messages", () => {
  test("go to the assistant's server as subscribed, in order, and end with the report", async () => {
    const session = await liveCall({
      server: { url: `${hook.url}/server` },
      serverMessages: ["status-update", 'transcript[transcriptType="final"]', "end-of-call-report"],
    });
    const { publish, record } = session.parts;
    publish({ type: "status-update", status: "in-progress" });
    publish({ type: "speech-update", status: "started", role: "user" });
    publish({ type: "transcript", transcriptType: "partial", role: "user", transcript: "He" });
    publish({ type: "transcript", transcriptType: "final", role: "user", transcript: "Hello." });
    publish({ type: "tool-calls", toolCallList: [] });
    record({ role: "user", text: "Hello.", startMs: 0, endMs: 500 });
    publish({ type: "status-update", status: "ended", endedReason: "customer-ended-call" });
    session.finish({ durationMs: 61_000 });

    const report = await hook.waitFor(({ body }) => body.message.type === "end-of-call-report");
    expect(hook.calls.map(({ body }) => body.message.type)).toEqual([
      "status-update",
      "transcript",
      "status-update",
      "end-of-call-report",
    ]);
    expect(hook.calls[1]?.body.message.transcript).toBe("Hello.");
    expect(report.body.message).toMatchObject({
      endedReason: "customer-ended-call",
      durationMs: 61_000,
      durationSeconds: 61,
      transcript: "User: Hello.\n",
      artifact: { messages: [{ role: "user", message: "Hello." }] },
      call: { id: session.plan.callId, status: "ended" },
      timestamp: expect.any(Number),
    });
  });

  test("a hanging server delays no call, and the queue is bounded", async () => {
    const session = await liveCall({ server: { url: hook.url }, serverMessages: ["status-update"] });
    hook.answer = () => new Promise(() => undefined);
    for (let index = 0; index < 500; index++) session.parts.publish({ type: "status-update", index });
    await logs.line(
      ({ msg }) => msg.startsWith("the queue of server messages is full"),
      "that messages are dropped",
    );
    session.finish();
    const ended = await runtime?.api("GET", `/call/${session.plan.callId}`);
    expect(ended?.body.status).toBe("ended");
  });
});

/**
 * `model.provider: custom-llm`: the assistant's own model server answers, and is told what the vendor tells it.
 * Proves a part of twins/SECURITY.md.
 */
import { once } from "node:events";
import { type CapturedLog, captureLog } from "@offhook/platform/testing/log-lines";
import { completion, type OpenAiServer, startOpenAiServer } from "@offhook/platform/testing/openai-server";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Brain, BrainStep } from "../../providers/provider.ts";
import {
  type PlayedSessions,
  playedSessions,
  startVoiceRuntime,
  type VoiceRuntime,
  websocketCall,
} from "../../testing/voice-runtime.ts";

const failed = (what: string) => `pipeline-error-custom-llm-${what}`;
let server: OpenAiServer;
let played: PlayedSessions;
let runtime: VoiceRuntime;
let logs: CapturedLog;

beforeAll(async () => {
  logs = captureLog();
  server = await startOpenAiServer();
  played = playedSessions();
  runtime = await startVoiceRuntime({ createSession: played.createSession, log: logs.log });
});
afterAll(async () => {
  await runtime.stop();
  await server.stop();
});
beforeEach(() => {
  server.requests.length = 0;
  logs.lines.length = 0;
  server.answer = (response) => void response.end(completion([{ content: "Ada." }]));
});

interface Assistant {
  model?: object;
  [member: string]: unknown;
}

function assistantWith({ model, ...members }: Assistant = {}): object {
  const own = { provider: "custom-llm", url: `${server.endpoint.baseUrl}/secret-path`, model: "house-model" };
  return { model: { ...own, ...model }, ...members };
}

/** The brain of a call with this assistant. */
async function brainOf(assistant?: Assistant, call: object = {}): Promise<{ brain: Brain; id: string }> {
  const created = await runtime.api(
    "POST",
    "/call",
    websocketCall({ assistant: assistantWith(assistant), ...call }),
  );
  expect(created.status).toBe(201);
  const { id, transport } = created.body;
  const socket = new WebSocket(transport.websocketCallUrl);
  await once(socket, "open");
  const { parts } = await played.of(id);
  socket.terminate();
  return { brain: parts.brain, id };
}

async function replyOf(brain: Brain): Promise<BrainStep[]> {
  const request = {
    simulationId: undefined,
    model: { provider: "custom-llm", model: "house-model", temperature: 0.5, maxTokens: 250 },
    conversation: [{ role: "user", content: "Who is on call?" }] as const,
    tools: [],
  };
  const steps: BrainStep[] = [];
  for await (const step of brain.reply(request, new AbortController().signal)) steps.push(step);
  return steps;
}

async function asked(assistant?: Assistant, call?: object) {
  const { brain, id } = await brainOf(assistant, call);
  expect(await replyOf(brain)).toEqual([{ type: "say", text: "Ada." }]);
  const [request] = server.requests;
  if (request === undefined) throw new Error("the server was not asked");
  return { ...request, id, json: JSON.parse(request.body.toString()) };
}

describe("the model server", () => {
  test("is asked below model.url, with the credential's key, the model's headers, the call and its customer", async () => {
    const { path, headers, json, id } = await asked(
      {
        metadata: { tenant: "acme" },
        credentials: [{ provider: "custom-llm", apiKey: "key-of-the-model" }],
        model: { headers: { "X-Tenant": "acme", Authorization: "Bearer not-from-here" } },
      },
      { customer: { number: "+15551234567" } },
    );
    expect(path).toBe("/v1/secret-path/chat/completions");
    expect(headers).toMatchObject({ authorization: "Bearer key-of-the-model", "x-tenant": "acme" });
    expect(json).toMatchObject({
      model: "house-model",
      stream: true,
      temperature: 0.5,
      max_tokens: 250,
      messages: [{ role: "user", content: "Who is on call?" }],
      metadata: { tenant: "acme" },
      call: { id, type: "vapi.websocketCall", monitor: { controlUrl: expect.stringContaining(id) } },
      customer: { number: "+15551234567" },
    });
  });

  test("gets nothing about the call with metadataSendMode off, and the metadata's members with destructured", async () => {
    const metadata = { tenant: "acme", stream: false, messages: [] };
    const off = await asked({ metadata, model: { metadataSendMode: "off" } });
    expect(Object.keys(off.json).sort()).toEqual([
      "max_tokens",
      "messages",
      "model",
      "stream",
      "temperature",
    ]);
    server.requests.length = 0;
    const { json, id } = await asked({ metadata, model: { metadataSendMode: "destructured" } });
    expect(json).toMatchObject({ tenant: "acme", stream: true, call: { id } });
    expect(json.messages).toHaveLength(1);
    expect(json).not.toHaveProperty("metadata");
  });

  test("does not get the secrets of tools and other servers", async () => {
    const { body, headers } = await asked({
      server: { url: "https://hooks.example", headers: { "x-key": "hush-server" } },
      credentials: [{ provider: "openai", apiKey: "hush-openai" }],
      model: {
        headers: { Authorization: "Bearer hush-header" },
        tools: [
          {
            type: "function",
            function: { name: "who" },
            server: { url: "https://tools.example", headers: { "x-key": "hush-tool" } },
          },
        ],
      },
    });
    expect(`${body.toString()} ${JSON.stringify(headers)}`).not.toMatch(/hush/);
  });

  test.each(["", "/", "/chat/completions", "/chat/completions/"])(
    "is found by an address that ends in %j, as the vendor's guides write it",
    async (ending) => {
      const { path } = await asked({ model: { url: `${server.endpoint.baseUrl}${ending}` } });
      expect(path).toBe("/v1/chat/completions");
    },
  );

  test("is asked with the simulation's script there too, and the log names its host and nothing else", async () => {
    const rules = [{ heard: "*", say: "Scripted." }];
    await runtime.control("POST", "/data", { data: { scripts: [{ simulation_id: "sim-1", rules }] } });
    await asked({ metadata: { simulationId: "sim-1" } });
    const { host } = new URL(server.endpoint.baseUrl);
    expect(logs.lines.filter(({ msg }) => msg.includes("model.url is asked"))).toMatchObject([{ host }]);
    expect(logs.text()).not.toContain("secret-path");
  });

  test("is not followed when it redirects", async () => {
    server.answer = (response) =>
      void response.writeHead(307, { location: `${server.endpoint.baseUrl}/elsewhere` }).end();
    const { brain } = await brainOf();
    await expect(replyOf(brain)).rejects.toMatchObject({ endedReason: failed("llm-failed") });
    expect(server.requests).toHaveLength(1);
    expect(logs.text()).toContain("the server answered 307");
    expect(logs.text()).not.toContain("secret-path");
  });
});

describe("a server that fails ends the call with the vendor's reason", () => {
  test.each([
    [400, "400-bad-request-validation-failed"],
    [401, "401-unauthorized"],
    [403, "403-model-access-denied"],
    [404, "llm-failed"],
    [429, "429-exceeded-quota"],
    [500, "500-server-error"],
    [502, "500-server-error"],
    [503, "503-server-overloaded-error"],
  ])("with the status %d", async (status, reason) => {
    server.answer = (response) => void response.writeHead(status).end("{}");
    const { brain } = await brainOf();
    await expect(replyOf(brain)).rejects.toMatchObject({ endedReason: failed(reason) });
  });

  test("by an answer that breaks off, or that is none", async () => {
    const { brain } = await brainOf();
    for (const answer of ["data: {\n\n", completion([{ content: "Half" }]).replace("data: [DONE]", "")]) {
      server.answer = (response) => void response.end(answer);
      await expect(replyOf(brain)).rejects.toMatchObject({ endedReason: failed("llm-failed") });
    }
  });
});

describe("an answer", () => {
  test("may be complete instead of streamed, including tool calls", async () => {
    const call = (id: string) => ({ id, type: "function", function: { name: "who", arguments: '{"a":1}' } });
    const message = { role: "assistant", content: "One moment.", tool_calls: [call("a"), call("b")] };
    server.answer = (response) =>
      void response
        .writeHead(200, { "content-type": "application/json; charset=utf-8" })
        .end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: "tool_calls" }] }));
    const { brain } = await brainOf();
    expect(await replyOf(brain)).toEqual([
      { type: "say", text: "One moment." },
      {
        type: "call-tools",
        calls: ["a", "b"].map((id) => ({ id, name: "who", arguments: { a: 1 } })),
      },
    ]);
  });

  test("is complete with its finish_reason, whether or not [DONE] follows", async () => {
    const chunk = { choices: [{ index: 0, delta: { content: "Ada." }, finish_reason: "stop" }] };
    server.answer = (response) => void response.end(`data: ${JSON.stringify(chunk)}\n\n`);
    const { brain } = await brainOf();
    expect(await replyOf(brain)).toEqual([{ type: "say", text: "Ada." }]);
  });

  test("has the time limit timeoutSeconds, twenty by default", async () => {
    const patience = async (model: object) => (await brainOf({ model })).brain.stepTimeoutMs;
    expect(await patience({ timeoutSeconds: 300 })).toBeGreaterThan(300_000);
    expect(await patience({})).toBeGreaterThan(20_000);
  });
});

test.each([
  [{ url: undefined }, "assistant.model.url must be a URL address"],
  [{ url: "ftp://models.example" }, "assistant.model.url must be a URL address"],
  [{ url: "models" }, "assistant.model.url must be a URL address"],
  [{ model: undefined }, "assistant.model.model must be a string"],
  [{ timeoutSeconds: 301 }, "assistant.model.timeoutSeconds must not be greater than 300"],
])("a custom-llm with %j is refused", async (model, sentence) => {
  const answer = await runtime.api("POST", "/call", websocketCall({ assistant: assistantWith({ model }) }));
  expect(answer.status).toBe(400);
  expect(answer.body.message).toEqual([sentence]);
});

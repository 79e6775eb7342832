import { once } from "node:events";
import http from "node:http";
import { request } from "@offhook/platform/testing/http";
import { type Vapi, VapiClient, VapiError } from "@vapi-ai/server-sdk";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import {
  KEY,
  type PlayedSessions,
  playedSessions,
  startVoiceRuntime,
  type VoiceRuntime,
  websocketCall,
} from "../../testing/voice-runtime.ts";

let played: PlayedSessions;
let runtime: VoiceRuntime;
const sockets: WebSocket[] = [];

beforeEach(async () => {
  played = playedSessions();
  runtime = await startVoiceRuntime({ createSession: played.createSession });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await runtime.stop();
});

async function join(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url);
  sockets.push(socket);
  await once(socket, "open");
  return socket;
}

/** The status with which an upgrade was refused. */
async function refusal(url: string): Promise<number> {
  const socket = new WebSocket(url);
  sockets.push(socket);
  socket.on("error", () => undefined);
  const [, response] = await once(socket, "unexpected-response");
  return response.statusCode;
}

describe("POST /call", () => {
  test("answers 201 with the vendor's members and a socket address made from the twin's own", async () => {
    const answer = await runtime.api("POST", "/call", websocketCall({ name: "one" }));
    expect(answer.status).toBe(201);
    const { id } = answer.body;
    const base = runtime.url.replace("http", "ws");
    expect(answer.body).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      orgId: expect.any(String),
      type: "vapi.websocketCall",
      status: "queued",
      cost: 0,
      name: "one",
      assistant: { firstMessage: "Hello." },
      monitor: { listenUrl: `${base}/${id}/listen`, controlUrl: `${runtime.url}/${id}/control` },
      transport: { provider: "vapi.websocket", websocketCallUrl: `${base}/${id}/transport` },
      subscriptionLimits: { concurrencyBlocked: false, concurrencyLimit: 250, remainingConcurrentCalls: 249 },
    });
    expect(answer.body.createdAt).toBe(new Date(answer.body.createdAt).toISOString());
    expect(answer.body).not.toHaveProperty("endedReason");
  });

  test("leaves out the monitor addresses that the monitor plan turns off", async () => {
    const monitorPlan = { listenEnabled: false, controlEnabled: false };
    const answer = await runtime.api("POST", "/call", websocketCall({ assistant: { monitorPlan } }));
    expect(answer.body.monitor).toEqual({});
  });

  test("refuses a wrong or missing key in the vendor's words", async () => {
    for (const authorization of ["Bearer wrong", "Basic x", undefined]) {
      const headers = { "user-agent": "test", ...(authorization ? { authorization } : {}) };
      const answer = await request("POST", `${runtime.url}/call`, { headers, body: websocketCall() });
      expect(answer.status).toBe(401);
      expect(answer.body).toEqual({
        message:
          "Invalid Key. Hot tip, you may be using the private key instead of the public key, or vice versa.",
        error: "Unauthorized",
        statusCode: 401,
      });
    }
  });

  test("answers a client without a User-Agent with the proxy's plain text", async () => {
    const sent = http.request(`${runtime.url}/call`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}` },
    });
    sent.end("{}");
    const [response] = await once(sent, "response");
    expect(response.statusCode).toBe(403);
    expect(response.headers["content-type"]).toContain("text/plain");
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe("error code: 1010");
  });

  test("lists every unknown property at any depth, and every other problem", async () => {
    const body = websocketCall({
      color: "red",
      assistant: {
        fillerInjectionEnabled: true,
        backchannelPlan: {},
        firstMessageMode: "never",
        maxDurationSeconds: 5,
        model: { provider: "openai", model: "gpt-4.1", top: 1 },
        server: { url: "https://example.com", extra: 1 },
      },
    });
    const answer = await runtime.api("POST", "/call", body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toBe("Bad Request");
    expect(answer.body.statusCode).toBe(400);
    expect(new Set(answer.body.message)).toEqual(
      new Set([
        "property color should not exist",
        "assistant.property fillerInjectionEnabled should not exist",
        "assistant.property backchannelPlan should not exist",
        "assistant.model.property top should not exist",
        "assistant.server.property extra should not exist",
        "assistant.firstMessageMode must be one of the following values: assistant-speaks-first, assistant-speaks-first-with-model-generated-message, assistant-waits-for-user",
        "assistant.maxDurationSeconds must not be less than 10",
      ]),
    );
  });

  test.each([
    [
      { transport: { provider: "vapi.websocket" }, phoneNumberId: "x" },
      ["property phoneNumberId should not exist"],
    ],
    [
      { transport: { provider: "carrier-pigeon" } },
      [expect.stringContaining("transport.provider must be one of")],
    ],
    [
      { transport: { provider: "vapi.websocket", audioFormat: { format: "mp3", container: "raw" } } },
      ["transport.audioFormat.format must be one of the following values: pcm_s16le, mulaw"],
    ],
    [
      { transport: { provider: "vapi.websocket", audioFormat: { format: "mulaw", sampleRate: 200_000 } } },
      ["transport.audioFormat.sampleRate must not be greater than 192000"],
    ],
    [{ transport: undefined }, "Couldn't Get Phone Number. Need Either `phoneNumberId` Or `phoneNumber`."],
    [
      { assistant: undefined },
      "Couldn't Get Assistant. Need Either `assistant`, `assistantId`, `squad`, Or `squadId`.",
    ],
    [
      { assistant: undefined, assistantId: "5b0a4a08-133c-4146-9315-0984f8c6be80" },
      "Couldn't Get Assistant. `assistantId` 5b0a4a08-133c-4146-9315-0984f8c6be80 Does Not Exist.",
    ],
    [
      { assistantOverrides: { silenceTimeoutSeconds: 30 } },
      ["assistantOverrides.property silenceTimeoutSeconds should not exist"],
    ],
  ])("refuses %j with 400", async (members, message) => {
    const answer = await runtime.api("POST", "/call", websocketCall(members));
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({ message, error: "Bad Request", statusCode: 400 });
  });

  test("a body that is not JSON is a bad request, an unknown path is the vendor's 404", async () => {
    const bad = await runtime.api("POST", "/call", "{");
    expect(bad.status).toBe(400);
    expect(bad.body).toMatchObject({ error: "Bad Request", statusCode: 400 });
    const deep = await runtime.api("POST", "/call", `{"name":${"[".repeat(100_000)}`);
    expect(deep.status).toBe(400);
    const lost = await runtime.api("GET", "/nowhere/at/all/x");
    expect(lost.body).toEqual({
      message: "Cannot GET /nowhere/at/all/x",
      error: "Not Found",
      statusCode: 404,
    });
  });

  test.each([
    [undefined, { format: "pcm_s16le", sampleRate: 16_000 }],
    [{ format: "mulaw" }, { format: "mulaw", sampleRate: 8_000 }],
    [
      { format: "pcm_s16le", sampleRate: 48_000 },
      { format: "pcm_s16le", sampleRate: 48_000 },
    ],
  ])("negotiates %j", async (audioFormat, expected) => {
    const created = await runtime.api(
      "POST",
      "/call",
      websocketCall({ transport: { provider: "vapi.websocket", audioFormat } }),
    );
    await join(created.body.transport.websocketCallUrl);
    const session = await played.of(created.body.id);
    expect(session.plan.audioFormat).toEqual(expected);
  });
});

describe("the call socket", () => {
  test("takes one client, refuses a second with 409, and unknown or ended calls with 404", async () => {
    const created = await runtime.api("POST", "/call", websocketCall());
    const url: string = created.body.transport.websocketCallUrl;
    await join(url);
    expect(await refusal(url)).toBe(409);
    expect(await refusal(url.replace(created.body.id, "00000000-0000-4000-8000-000000000000"))).toBe(404);
    (await played.of(created.body.id)).finish();
    await runtime.api("DELETE", `/call/${created.body.id}`);
    expect(await refusal(url)).toBe(404);
  });

  test("a call goes from queued to in-progress to ended, and keeps what was said and done", async () => {
    const created = await runtime.api(
      "POST",
      "/call",
      websocketCall({
        assistant: {
          metadata: { simulationId: "sim-1" },
          model: {
            provider: "openai",
            model: "gpt-4.1",
            messages: [{ role: "system", content: "Be brief." }],
          },
        },
      }),
    );
    const { id } = created.body;
    await join(created.body.transport.websocketCallUrl);
    const { parts, plan, finish } = await played.of(id);
    expect(plan.simulationId).toBe("sim-1");
    expect((await runtime.api("GET", `/call/${id}`)).body).toMatchObject({ status: "in-progress" });

    const call = { id: "call_1", name: "who_is_on_call", arguments: { service: "checkout" } };
    parts.record({ role: "assistant", text: "Hello.", startMs: 0, endMs: 900 });
    parts.record({ role: "user", text: "Who is on call?", startMs: 1000, endMs: 2500 });
    parts.record({ role: "tool_call", call, startMs: 3000 });
    parts.record({ role: "tool_result", outcome: { call, content: null }, endMs: 3100 });
    // Known to the control plane alone: the vendor's answers below have nothing of it.
    parts.record({ role: "unrecognised", startMs: 3200, endMs: 3900 });
    const rows = await runtime.control("GET", `/data?entity_type=messages&call_id=${id}&role=unrecognised`);
    expect(rows.body.rows).toMatchObject([
      { text: "", start_ms: 3200, end_ms: 3900, simulation_id: "sim-1" },
    ]);
    const latency = {
      modelLatency: 10,
      voiceLatency: 20,
      transcriberLatency: 30,
      endpointingLatency: 40,
      turnLatency: 100,
    };
    finish({
      endedReason: "customer-ended-call",
      durationMs: 4000,
      turnLatencies: [latency],
      userInterruptions: 2,
    });

    const { body } = await runtime.api("DELETE", `/call/${id}`);
    expect(body).toMatchObject({ status: "ended", endedReason: "customer-ended-call" });
    expect(Date.parse(body.endedAt)).toBeGreaterThanOrEqual(Date.parse(body.startedAt));
    const startedAtMs = Date.parse(body.startedAt);
    expect(body.artifact.messages).toEqual([
      { role: "system", message: "Be brief.", time: startedAtMs, secondsFromStart: 0 },
      {
        role: "bot",
        message: "Hello.",
        time: startedAtMs,
        endTime: startedAtMs + 900,
        secondsFromStart: 0,
        duration: 900,
        source: "",
      },
      {
        role: "user",
        message: "Who is on call?",
        time: startedAtMs + 1000,
        endTime: startedAtMs + 2500,
        secondsFromStart: 1,
        duration: 1500,
      },
      {
        role: "tool_calls",
        message: "",
        time: startedAtMs + 3000,
        secondsFromStart: 3,
        toolCalls: [
          {
            id: "call_1",
            type: "function",
            function: { name: "who_is_on_call", arguments: '{"service":"checkout"}' },
          },
        ],
      },
      {
        role: "tool_call_result",
        name: "who_is_on_call",
        result: "No result returned.",
        toolCallId: "call_1",
        time: startedAtMs + 3100,
        secondsFromStart: 3.1,
      },
    ]);
    expect(body.messages).toEqual(body.artifact.messages);
    expect(body.artifact.transcript).toBe("AI: Hello.\nUser: Who is on call?\n");
    expect(body.artifact.performanceMetrics).toMatchObject({
      turnLatencies: [latency],
      turnLatencyAverage: 100,
      numAssistantInterrupted: 2,
    });
    expect((await runtime.api("GET", `/call/${id}`)).status).toBe(404);
  });

  test("DELETE ends a live call and keeps its record", async () => {
    const created = await runtime.api("POST", "/call", websocketCall());
    await join(created.body.transport.websocketCallUrl);
    const ended = await runtime.api("DELETE", `/call/${created.body.id}`);
    expect(ended.body).toMatchObject({ status: "ended", endedReason: "manually-canceled" });
    expect((await runtime.api("GET", `/call/${created.body.id}`)).body.status).toBe("ended");
  });
});

describe("the control URL", () => {
  test("passes commands to the live call and refuses the others", async () => {
    const created = await runtime.api("POST", "/call", websocketCall());
    const { controlUrl } = created.body.monitor;
    const post = (body: unknown) => request("POST", controlUrl, { body });
    expect((await post({ type: "say", content: "Hi" })).status).toBe(400);
    await join(created.body.transport.websocketCallUrl);
    const session = await played.of(created.body.id);
    expect((await post({ type: "say", content: "Hi" })).status).toBe(200);
    expect(session.commands).toMatchObject([{ type: "say", content: "Hi" }]);
    expect((await post({ type: "say" })).status).toBe(400);
    expect((await post({ type: "teleport" })).status).toBe(400);
    expect((await post({ type: "end-call" })).status).toBe(200);
    expect((await post({ type: "end-call" })).status).toBe(404);
  });
});

describe("the vendor's own client", () => {
  const client = () => new VapiClient({ token: KEY, environment: runtime.url });

  test("creates, reads, lists, renames and deletes calls unchanged", async () => {
    const created = await client().calls.create({
      assistant: { firstMessage: "Hello.", model: { provider: "openai", model: "gpt-4.1" } },
      transport: { provider: "vapi.websocket" },
    });
    if (!("id" in created)) throw new Error("a batch");
    expect((await client().calls.get({ id: created.id })).status).toBe("queued");
    expect((await client().calls.update({ id: created.id, name: "Checkout" })).name).toBe("Checkout");
    expect((await client().calls.list({ limit: 10 })).map((call) => call.id)).toEqual([created.id]);
    expect((await client().calls.delete({ id: created.id })).endedReason).toBe("manually-canceled");
  });

  test("stores assistants and calls them by id with overrides", async () => {
    const assistant = await client().assistants.create({
      name: "Hotline",
      firstMessage: "Hello {{caller}}.",
      model: {
        provider: "openai",
        model: "gpt-4.1",
        temperature: 0.2,
        messages: [{ role: "system", content: "You help {{caller}}." }],
      },
      voice: { provider: "vapi", voiceId: "Elliot" },
    });
    expect((await client().assistants.get({ id: assistant.id })).name).toBe("Hotline");
    expect(
      (await client().assistants.update({ id: assistant.id, endCallMessage: "Bye." })).endCallMessage,
    ).toBe("Bye.");
    expect(await client().assistants.list()).toHaveLength(1);

    const created = await client().calls.create({
      assistantId: assistant.id,
      assistantOverrides: {
        variableValues: { caller: "Ada" },
        model: { provider: "openai", model: "gpt-4.1-mini" },
        clientMessages: ["transcript"],
      },
      transport: { provider: "vapi.websocket" },
    });
    if (!("id" in created)) throw new Error("a batch");
    expect(created.assistantId).toBe(assistant.id);
    const transport: Vapi.CallTransport | undefined = created.transport;
    const { websocketCallUrl } = Object(transport);
    await join(websocketCallUrl);
    const { plan } = await played.of(created.id);
    expect(plan.assistant).toMatchObject({
      id: assistant.id,
      name: "Hotline",
      firstMessage: "Hello Ada.",
      endCallMessage: "Bye.",
      clientMessages: ["transcript"],
      model: { model: "gpt-4.1-mini", messages: [{ role: "system", content: "You help Ada." }] },
    });

    await client().assistants.delete({ id: assistant.id });
    await expect(client().assistants.get({ id: assistant.id })).rejects.toThrow(VapiError);
  });

  test("filters the list by time and assistant, and refuses an unknown filter", async () => {
    const first = await runtime.api("POST", "/call", websocketCall());
    const { createdAt, id } = first.body;
    const ids = async (query: string) =>
      (await runtime.api("GET", `/call?${query}`)).body.map((call: { id: string }) => call.id);
    expect(await ids(`createdAtGe=${createdAt}`)).toEqual([id]);
    expect(await ids(`createdAtGt=${createdAt}`)).toEqual([]);
    expect(await ids(`assistantId=none`)).toEqual([]);
    expect(await ids(`id=${id}`)).toEqual([id]);
    const second = await runtime.api("POST", "/call", websocketCall());
    expect(await ids("limit=1")).toEqual([second.body.id]);
    const refused = await runtime.api("GET", "/call?page=2&limit=5000");
    expect(refused.body.message).toEqual([
      "property page should not exist",
      "limit must not be greater than 1000",
    ]);
  });
});

import { completion, startOpenAiServer } from "@offhook/platform/testing/openai-server";
import { startWebhookServer, type WebhookServer } from "@offhook/platform/testing/webhook-server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { tone } from "../../testing/tone-speech.ts";
import { startToneRuntime, type ToneRuntime } from "../tone-runtime.ts";

let runtime: ToneRuntime;
let hook: WebhookServer;

beforeEach(async () => {
  hook = await startWebhookServer();
  runtime = await startToneRuntime();
});
afterEach(async () => {
  runtime.hangUp();
  await runtime.stop();
  await hook.stop();
});

describe("a whole call", () => {
  test("greets, hears, runs the tool on the webhook, says its result, and leaves its record", async () => {
    await runtime.control("POST", "/data", {
      data: {
        scripts: [
          {
            simulation_id: "sim-1",
            rules: [
              {
                heard: "what is the status",
                call: [{ tool: "incident_status", arguments: { id: "INC-1041" } }],
                say: "It is {{incident_status.status}}.",
              },
              { heard: "stop", say: "Goodbye.", end_call: true },
            ],
          },
        ],
      },
    });
    hook.answer = ({ body }) => ({
      body: {
        results: [{ toolCallId: body.message.toolCallList[0].id, result: '{"status":"investigating"}' }],
      },
    });
    const { id, caller } = await runtime.dial({
      firstMessage: "Hello.",
      metadata: { simulationId: "sim-1" },
      model: {
        provider: "openai",
        model: "gpt-4.1",
        tools: [
          {
            type: "function",
            function: { name: "incident_status", parameters: { type: "object", properties: {} } },
            server: { url: `${hook.url}/tool` },
          },
        ],
      },
    });
    await caller.brief("transcript assistant final: Hello.");
    await caller.say(caller.tone(500, 800));
    await caller.brief("transcript assistant final: It is investigating.");
    await caller.say(caller.tone(900, 600));
    expect(await caller.closed()).toBe(1000);

    const call = await runtime.endedCall(id);
    expect(call).toMatchObject({ status: "ended", endedReason: "assistant-ended-call" });
    expect(call.artifact.messages.map(({ role }: { role: string }) => role)).toEqual([
      "bot",
      "user",
      "tool_calls",
      "tool_call_result",
      "bot",
      "user",
      "bot",
    ]);
    expect(call.artifact.transcript).toBe(
      "AI: Hello.\nUser: What is the status?\nAI: It is investigating.\nUser: Stop.\nAI: Goodbye.\n",
    );
    expect(call.artifact.performanceMetrics.turnLatencies.length).toBeGreaterThan(0);
    expect(call.durationSeconds).toBeGreaterThan(2);
    expect(hook.calls[0]?.body.message.artifact.messages.at(-2)).toMatchObject({
      role: "user",
      message: "What is the status?",
    });
    expect(hook.calls[0]?.body.message.artifact.messages.at(-1)).toMatchObject({
      role: "tool_calls",
      toolCalls: [{ function: { name: "incident_status", arguments: '{"id":"INC-1041"}' } }],
    });
    const rows = await runtime.control("GET", "/data?entity_type=messages&simulation_id=sim-1");
    expect(rows.body.total).toBe(7);
  });

  test("takes say and end-call through its control URL", async () => {
    const { id, created, caller } = await runtime.dial({ firstMessageMode: "assistant-waits-for-user" });
    const control = (body: object) =>
      fetch(created.monitor.controlUrl, { method: "POST", body: JSON.stringify(body) });
    await caller.brief("status-update in-progress");
    await control({ type: "say", content: "One moment." });
    await caller.brief("transcript assistant final: One moment.");
    expect((await control({ type: "end-call" })).status).toBe(200);
    expect(await caller.closed()).toBe(1000);
    expect((await runtime.endedCall(id)).status).toBe("ended");
  });

  test("ends with DELETE, and when the twin stops the socket is told to come back", async () => {
    const first = await runtime.dial({ firstMessage: "Hello." });
    await first.caller.brief("status-update in-progress");
    expect((await runtime.api("DELETE", `/call/${first.id}`)).body.endedReason).toBe("manually-canceled");
    await first.caller.closed();
    const second = await runtime.dial({ firstMessage: "Hello." });
    await second.caller.brief("status-update in-progress");
    await runtime.stop();
    expect(await second.caller.closed()).toBe(1012);
  });

  test("of an assistant with a custom-llm that waits for the user: its first message, then what its own server says", async () => {
    const server = await startOpenAiServer();
    server.answer = (response) => void response.end(completion([{ content: "I am the house model." }]));
    const { caller } = await runtime.dial({
      firstMessage: "Hello.",
      firstMessageMode: "assistant-waits-for-user",
      model: { provider: "custom-llm", url: server.endpoint.baseUrl, model: "house", maxTokens: 100 },
    });
    await caller.say(caller.tone(400, 600));
    await caller.brief("transcript assistant final: Hello.");
    expect(server.requests).toEqual([]);
    await caller.say(caller.tone(500, 800));
    await caller.brief("transcript assistant final: I am the house model.");
    expect(server.requests.map(({ body }) => JSON.parse(body.toString()))).toMatchObject([
      {
        model: "house",
        max_tokens: 100,
        messages: [
          { role: "user", content: "Hello there." },
          { role: "assistant", content: "Hello." },
          { role: "user", content: "What is the status?" },
        ],
      },
    ]);
    await server.stop();
  });

  test("of an assistant whose custom-llm fails ends, and its record says why", async () => {
    const server = await startOpenAiServer();
    server.answer = (response) => void response.writeHead(503).end();
    const { id, caller } = await runtime.dial({
      firstMessage: "Hello.",
      model: { provider: "custom-llm", url: server.endpoint.baseUrl, model: "house" },
    });
    await caller.brief("transcript assistant final: Hello.");
    await caller.say(caller.tone(500, 800));
    expect(await caller.closed()).toBe(1000);
    const endedReason = "pipeline-error-custom-llm-503-server-overloaded-error";
    expect(caller.messages.at(-1)).toMatchObject({ type: "status-update", status: "ended", endedReason });
    const call = await runtime.endedCall(id);
    expect(call).toMatchObject({ status: "ended", endedReason });
    expect(call.artifact.transcript).toBe("AI: Hello.\nUser: What is the status?\n");
    await server.stop();
  });

  test("uses OpenAI-compatible servers for all three providers when configured", async () => {
    const server = await startOpenAiServer();
    server.answer = (response, { path }) => {
      if (path.endsWith("/audio/transcriptions")) response.end('{"text":"Who are you?"}');
      else if (path.endsWith("/audio/speech")) response.end(Buffer.from(tone(300, 600, 24_000).buffer));
      else response.end(completion([{ content: "I am " }, { content: "a model." }]));
    };
    await runtime.stop();
    const openai = { provider: "openai", base_url: server.endpoint.baseUrl };
    runtime = await startToneRuntime({ recognition: openai, brain: openai, synthesis: openai });
    const { id, caller } = await runtime.dial({
      firstMessage: "Hello.",
      model: { provider: "openai", model: "gpt-4.1" },
    });
    await caller.brief("transcript assistant final: Hello.");
    await caller.say(caller.tone(500, 800));
    await caller.brief("transcript assistant final: I am a model.");
    caller.command({ type: "end-call" });
    await caller.closed();
    expect((await runtime.endedCall(id)).artifact.transcript).toBe(
      "AI: Hello.\nUser: Who are you?\nAI: I am a model.\n",
    );
    await server.stop();
  });
});

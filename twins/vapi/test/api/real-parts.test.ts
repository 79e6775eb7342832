import { once } from "node:events";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { SAMPLES_FOLDER } from "@offhook/audio/testing/samples";
import { startWebhookServer, type WebhookServer } from "@offhook/platform/testing/webhook-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import voiceRuntimeTwin from "../../index.ts";
import { startDefinition, type VoiceRuntime, websocketCall } from "../../testing/voice-runtime.ts";
import { LiveCall } from "../session/live-call.ts";

const samples = readSampleLibrary(SAMPLES_FOLDER);
const never = { connect() {}, command() {}, end() {}, ended: new Promise<never>(() => undefined) };
let runtime: VoiceRuntime;
let hook: WebhookServer;

beforeAll(async () => {
  hook = await startWebhookServer();
  runtime = await startDefinition(voiceRuntimeTwin, {
    config: { recognition: { provider: "samples", samples: SAMPLES_FOLDER } },
  });
});
afterAll(async () => {
  await runtime.stop();
  await hook.stop();
});

test("with its embedded recognition, script and voice the twin holds a conversation faster than real time", async () => {
  const rules = [
    {
      heard: "who is on call for payments right now",
      call: [{ tool: "who_is_on_call", arguments: { service: "payments" } }],
      say: "{{who_is_on_call.engineer}} is on call.",
    },
    { heard: "* goodbye", say: "Goodbye.", end_call: true },
  ];
  await runtime.control("POST", "/data", { data: { scripts: [{ simulation_id: "*", rules }] } });
  hook.answer = ({ body }) => ({
    body: { results: [{ toolCallId: body.message.toolCallList[0].id, result: '{"engineer":"Ada"}' }] },
  });
  const created = await runtime.api(
    "POST",
    "/call",
    websocketCall({
      assistant: {
        firstMessage: "Incident hotline.",
        model: {
          provider: "openai",
          model: "gpt-4.1",
          tools: [{ type: "function", function: { name: "who_is_on_call" }, server: { url: hook.url } }],
        },
      },
    }),
  );
  const client = new WebSocket(created.body.transport.websocketCallUrl);
  const opened = once(client, "open");
  const caller = new LiveCall(client, never, { format: "pcm_s16le", sampleRate: 24_000 }, 10);
  await opened;
  caller.startStreaming();
  await caller.brief("transcript assistant final: Incident hotline.");
  await caller.say(samples.get("who-is-on-call").pcm);
  await caller.brief("transcript assistant final: Ada is on call.");
  await caller.say(samples.get("thanks-goodbye").pcm);
  expect(await caller.closed()).toBe(1000);
  const heard = caller.story.filter((line) => line.startsWith("transcript user final"));
  expect(heard).toEqual([
    `transcript user final: ${samples.get("who-is-on-call").text}`,
    `transcript user final: ${samples.get("thanks-goodbye").text}`,
  ]);
  const call = await runtime.api("GET", `/call/${created.body.id}`);
  expect(call.body).toMatchObject({ status: "ended", endedReason: "assistant-ended-call" });
  expect(call.body.artifact.performanceMetrics.turnLatencies.length).toBeGreaterThan(0);
});

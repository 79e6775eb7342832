/** `/sim/calls`: calls as a tester reads them. */
import { startWebhookServer, type WebhookServer } from "@offhook/platform/testing/webhook-server";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startToneRuntime, type ToneRuntime } from "../tone-runtime.ts";

const LONG = "It is still being investigated by the people who look after the checkout.";
let runtime: ToneRuntime;
let hook: WebhookServer;

beforeEach(async () => {
  hook = await startWebhookServer();
  hook.answer = ({ body }) => ({
    body: { results: [{ toolCallId: body.message.toolCallList[0].id, result: '{"status":"open"}' }] },
  });
  runtime = await startToneRuntime();
  await runtime.control("POST", "/data", {
    data: {
      scripts: [
        {
          simulation_id: "*",
          rules: [
            { heard: "what is the status", call: [{ tool: "incident_status" }], say: LONG },
            { heard: "stop", say: "Goodbye.", end_call: true },
          ],
        },
      ],
    },
  });
});
afterEach(async () => {
  runtime.hangUp();
  await runtime.stop();
  await hook.stop();
});

function hotline(members: object = {}): object {
  const parameters = { type: "object", properties: {} };
  const tool = {
    type: "function",
    function: { name: "incident_status", parameters },
    server: { url: `${hook.url}/tool` },
  };
  return {
    name: "hotline",
    firstMessage: "Hello.",
    stopSpeakingPlan: { numWords: 0, voiceSeconds: 0.2 },
    model: { provider: "openai", model: "gpt-4.1", tools: [tool] },
    ...members,
  };
}

const calls = async (query = "") => (await runtime.control("GET", `/calls${query}`)).body;
const callOf = async (id: string) => (await runtime.control("GET", `/calls/${id}`)).body;

/** Greeting, a question with a tool, whose answer the caller cuts short, then the goodbye. */
async function wholeCall(): Promise<string> {
  const { id, caller } = await runtime.dial(hotline({ metadata: { simulationId: "sim-1" } }));
  await caller.brief("transcript assistant final: Hello.");
  await caller.say(caller.tone(500, 800));
  await caller.brief("speech-update assistant started 1");
  await caller.say(caller.pause(400), caller.tone(900, 600));
  expect(await caller.closed()).toBe(1000);
  await runtime.endedCall(id);
  return id;
}

test("a call is read with its turns, tools, latencies, what was cut short, and its end", async () => {
  const id = await wholeCall();
  const call = await callOf(id);
  expect(call).toMatchObject({
    id,
    simulation_id: "sim-1",
    status: "ended",
    ended_reason: "assistant-ended-call",
    turns: 2,
    tool_calls: ["incident_status"],
    unrecognised: 0,
    recording: true,
    assistant: {
      id: null,
      name: "hotline",
      model: { provider: "openai", model: "gpt-4.1" },
      first_message: "Hello.",
    },
  });
  const story = call.messages.map(({ role, interrupted }: { role: string; interrupted: boolean }) =>
    interrupted ? `${role}, cut short` : role,
  );
  expect(story).toEqual([
    "assistant",
    "user",
    "tool_call",
    "tool_result",
    "assistant, cut short",
    "user",
    "assistant",
  ]);
  const starts = call.messages.map((message: Times) => message.start_ms ?? message.end_ms);
  expect(starts).toEqual(starts.toSorted((a: number, b: number) => a - b));
  const [greeting, , , , cut, , goodbye] = call.messages;
  expect(greeting.latency).toBeNull();
  expect(LONG.startsWith(cut.text) && cut.text !== LONG).toBe(true);
  const { performanceMetrics } = (await runtime.api("GET", `/call/${id}`)).body.artifact;
  expect(Object.keys(performanceMetrics.turnLatencies[0]).sort()).toEqual([
    "endpointingLatency",
    "modelLatency",
    "transcriberLatency",
    "turnLatency",
    "voiceLatency",
  ]);
  expect([cut.latency.turn_ms, goodbye.latency.turn_ms]).toEqual(
    performanceMetrics.turnLatencies.map(({ turnLatency }: { turnLatency: number }) => turnLatency),
  );
  expect(cut.latency.endpointing_ms).toBeGreaterThan(0);
  expect(call.slowest_response_ms).toBe(Math.max(cut.latency.turn_ms, goodbye.latency.turn_ms));
  expect(call.events).toEqual([
    { type: "started", at_ms: 0, at: call.started_at },
    { type: "interruption", at_ms: cut.end_ms, position: cut.position },
    { type: "ended", at_ms: call.duration_ms, at: call.ended_at, reason: "assistant-ended-call" },
  ]);
});

interface Times {
  start_ms: number | null;
  end_ms: number | null;
}

test("a running call is read as far as it has come, and speech in which nothing was recognised counts", async () => {
  const { id, caller } = await runtime.dial(hotline());
  await caller.brief("transcript assistant final: Hello.");
  await caller.say(caller.tone(250, 600), caller.pause(2500), caller.tone(500, 800));
  await caller.brief("speech-update assistant started 2");
  const call = await callOf(id);
  expect(call).toMatchObject({ status: "in-progress", ended_at: null, duration_ms: null, unrecognised: 1 });
  expect(call.events).toEqual([{ type: "started", at_ms: 0, at: call.started_at }]);
  expect(call.messages.map(({ role }: { role: string }) => role)).toEqual([
    "assistant",
    "unrecognised",
    "user",
    "tool_call",
    "tool_result",
  ]);
});

test("calls are listed in the order of their creation, filtered and paged", async () => {
  const ids: string[] = [];
  for (const simulationId of ["one", "two", "one"]) {
    const { id } = await runtime.dial(hotline({ metadata: { simulationId } }));
    ids.push(id);
  }
  await runtime.api("DELETE", `/call/${ids[1]}`);
  const listed = async (query: string) => (await calls(query)).calls.map(({ id }: { id: string }) => id);
  expect(await listed("")).toEqual(ids);
  expect(await listed("?order=newest")).toEqual(ids.toReversed());
  expect(await listed("?simulation_id=one")).toEqual([ids[0], ids[2]]);
  expect(await listed("?status=ended")).toEqual([ids[1]]);
  expect(await calls("?order=newest&limit=1&offset=2")).toMatchObject({
    calls: [{ id: ids[0] }],
    total: 3,
    limit: 1,
    offset: 2,
  });
  const ended = (await calls("?status=ended")).calls[0];
  const { assistant: _assistant, messages: _messages, events: _events, ...summary } = await callOf(ended.id);
  expect(ended).toEqual(summary);
});

test("what is asked wrongly is refused, and an unknown call is none", async () => {
  expect((await runtime.control("GET", "/calls?status=over")).body.error.problems).toMatchObject([
    { field: "status" },
  ]);
  expect((await runtime.control("GET", "/calls?simulation=one")).status).toBe(422);
  expect((await runtime.control("GET", "/calls/none")).body.error).toEqual({
    code: "not_found",
    message: "there is no call none",
  });
});

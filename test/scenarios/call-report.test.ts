/** What the engine is told of a call by its caller: how to place it again, and the verdict. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as forward } from "node:http";
import { join } from "node:path";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { runScenario } from "@offhook/caller/run-scenario";
import { SandboxClient } from "@offhook/caller/sandbox-client";
import { readScenario } from "@offhook/caller/scenario-file";
import { request } from "@offhook/platform/testing/http";
import { expect, test } from "vitest";
import { z } from "zod";
import { SAMPLES_FOLDER, SCENARIOS_FOLDER } from "../../scripts/shared/folders.ts";
import { type InlineScenario, replay, stage } from "../support/replay.ts";

const simulationSchema = z.object({ metadata: z.unknown(), scenario: z.string(), ended_at: z.string() });
const eventsSchema = z.object({
  events: z.array(
    z.looseObject({
      event_type: z.string(),
      received_at: z.string(),
      data: z.looseObject({ turns: z.array(z.unknown()).optional(), unchecked: z.unknown().optional() }),
    }),
  ),
});
const traceSchema = z.object({ trace: z.array(z.looseObject({ event_type: z.string().optional() })) });
const journalSchema = z.object({
  requests: z.array(z.object({ operation: z.string().nullable(), path: z.string() })),
});

const FILE = join(SCENARIOS_FOLDER, "ask-status.yaml");

/** Places a call in the sandbox that stays, so that the engine can be asked afterwards. */
async function callAndAsk(scenario: string | InlineScenario) {
  const { house, voiceUrl: url } = await stage();
  const run = await replay(scenario, { url });
  const ask = async (path: string): Promise<unknown> =>
    (await request("GET", `${house.twins.baseUrl}/simulations/${run.simulationId}${path}`)).body;
  return {
    run,
    simulation: simulationSchema.parse(await ask("")),
    events: eventsSchema.parse(await ask("/events")).events,
    trace: traceSchema.parse(await ask("/trace")).trace,
  };
}

test("the caller's verdict is the last event of its simulation, before that ends, with every turn as it was judged", async () => {
  const { run, simulation, events } = await callAndAsk("ask-status");
  expect(run.failures).toEqual([]);
  expect(events.map(({ event_type }) => event_type)).toEqual(["agent_tool_call", "call_report"]);
  const report = events.at(-1);
  expect(report).toMatchObject({ service: "caller", simulation_id: run.simulationId });
  expect(Date.parse(report?.received_at ?? "")).toBeLessThanOrEqual(Date.parse(simulation.ended_at));
  expect(report?.data).toEqual({
    scenario: "ask-status",
    passed: true,
    failures: [],
    unchecked: run.unchecked,
    outcome: "completed",
    ended_by: "callee",
    reason: run.report.reason,
    duration_ms: run.report.durationMs,
    setup_ms: run.report.setupMs,
    turns: run.turns.map(({ speaker, text, startMs, endMs, responseMs }) => ({
      ...{ speaker, text, start_ms: startMs, end_ms: endMs, response_ms: responseMs },
      ...(speaker === "caller" ? { sample: expect.any(String), cut_off: false } : { interrupted: false }),
    })),
  });
  expect(report?.data.turns?.[1]).toMatchObject({ sample: "ask-status", text: /^What is the status/ });
});

test("a call that fails leaves each failed expectation with its simulation", async () => {
  const { run, events } = await callAndAsk({
    name: "wants-more",
    description: "It expects a tool call that is not made.",
    caller: { turns: [{ say: "thanks-goodbye" }, { stay_silent: "until_hang_up" }] },
    brain: [{ heard: "*", say: "Goodbye.", end_call: true }],
    expect: { response_ms: 1, tool_calls: [{ tool: "who_is_on_call" }] },
  });
  expect(run.failures).toHaveLength(1);
  const data = events.at(-1)?.data;
  expect(data).toMatchObject({ passed: false, failures: run.failures });
  expect(data?.unchecked).toEqual([expect.stringMatching(/^response_ms: judged at speed 1 only/)]);
});

test("the verdict is no tool call, no request to a twin, and in the engine's trace alone", async () => {
  const { run, trace } = await callAndAsk("ask-status");
  const verdicts = (lines: Record<string, unknown>[]) =>
    lines.filter(({ event_type }) => event_type === "call_report");
  expect(verdicts(trace)).toMatchObject([{ source: "agent", service: "caller", kind: "event" }]);
  expect(verdicts(run.trace ?? [])).toEqual([]);
  expect(run.reported).toEqual(run.toolCalls);
  const { house } = await stage();
  const { baseUrl, apiKey } = house.twins;
  const journal = await request("GET", `${baseUrl}/c/dev/engine/sim/requests?tier=vendor&limit=1000`, {
    headers: { "x-api-key": apiKey },
  });
  const reports = journalSchema
    .parse(journal.body)
    .requests.filter(
      ({ operation, path }) => operation === "event.create" && path.includes(run.simulationId ?? "none"),
    );
  // The agent's own, of its one tool call.
  expect(reports).toHaveLength(1);
});

test("a simulation keeps what places its call again: file, text, speed and framing", async () => {
  const { simulation } = await callAndAsk("ask-status");
  expect(simulation).toMatchObject({
    scenario: "ask-status",
    metadata: {
      scenario_file: "ask-status.yaml",
      scenario_text: readFileSync(FILE, "utf8"),
      speed: 10,
      framing: "binary",
    },
  });
});

test("a verdict that the engine does not take leaves the run as it is, and its simulation ended", async () => {
  const { house, voiceUrl } = await stage();
  const { apiKey, baseUrl } = house.twins;
  let refused = 0;
  const gateway = createServer((incoming, answer) => {
    if (incoming.method === "POST" && incoming.url === "/c/dev/engine/sim/data") {
      refused += 1;
      answer.writeHead(503).end();
      incoming.resume();
      return;
    }
    const { method, url, headers } = incoming;
    const onward = forward(`${baseUrl}${url}`, { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    answer.on("close", () => onward.destroy());
    onward.on("error", () => answer.destroy());
    incoming.pipe(onward);
  }).listen(0, "127.0.0.1");
  await once(gateway, "listening");
  const address = gateway.address();
  if (address === null || typeof address === "string") throw new Error("the gateway has no port");
  const sandbox = await SandboxClient.connect({ baseUrl: `http://127.0.0.1:${address.port}`, apiKey });
  try {
    const scenario = readScenario(FILE, readSampleLibrary(SAMPLES_FOLDER));
    const run = await runScenario(scenario, { url: voiceUrl, sandbox, speed: 10 });
    expect(refused).toBe(1);
    expect(run.failures).toEqual([]);
    const { body } = await request("GET", `${baseUrl}/simulations/${run.simulationId}`);
    expect(body).toMatchObject({ events: 1, ended_at: expect.any(String) });
  } finally {
    sandbox.close();
    gateway.close();
    gateway.closeAllConnections();
  }
});

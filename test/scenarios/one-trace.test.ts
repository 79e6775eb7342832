/** A call is one trace, from the caller's dialling to the statement and the search that its tools caused. */
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { runScenario } from "@offhook/caller/run-scenario";
import { listScenarioFiles, readScenario } from "@offhook/caller/scenario-file";
import { type OtlpReceiver, type OtlpSpan, startOtlpReceiver } from "@offhook/platform/testing/otlp-receiver";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { SAMPLES_FOLDER, SCENARIOS_FOLDER } from "../../scripts/shared/folders.ts";
import { startHouse } from "../../scripts/shared/house.ts";
import { startPartsTelemetry } from "../../scripts/shared/telemetry.ts";

const SPEED = 10;
/** A statement, a search of each log twin; those that this project has. */
const SCENARIOS = ["ask-status", "checkout-failing", "errors-worse"];
const SERVER = 2;
const CLIENT = 3;

let receiver: OtlpReceiver;
/** What the calls' secrets were, none of which may be in a span. */
const secrets: string[] = [];
let runs: { scenario: string; toolCalls: number; failures: string[] }[] = [];

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url);
  vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "x-collector-key=a-collector-key");
  const telemetry = await startPartsTelemetry();
  const house = await startHouse({
    telemetry,
    agentVariables: { TOOL_SECRET: "a-webhook-secret-of-this-test" },
  });
  secrets.push("a-webhook-secret-of-this-test", "a-collector-key", house.twins.apiKey);
  const samples = readSampleLibrary(SAMPLES_FOLDER);
  const files = listScenarioFiles(SCENARIOS_FOLDER);
  const played = SCENARIOS.flatMap((name) => files.get(name) ?? []);
  runs = await Promise.all(
    played.map(async (file) => {
      const scenario = readScenario(file, samples);
      const { voiceUrl, sandbox } = await house.openStage();
      const run = await runScenario(scenario, {
        url: voiceUrl,
        speed: SPEED,
        sandbox,
        telemetry: telemetry.caller,
      });
      return { scenario: scenario.name, toolCalls: run.toolCalls.length, failures: run.failures };
    }),
  );
  await house.stop();
  await telemetry.stop();
}, 60_000);

afterAll(async () => {
  vi.unstubAllEnvs();
  await receiver.close();
});

function childrenOf(span: OtlpSpan): OtlpSpan[] {
  return receiver.spans.filter(({ parentSpanId }) => parentSpanId === span.spanId);
}

function below(span: OtlpSpan): OtlpSpan[] {
  return childrenOf(span).flatMap((child) => [child, ...below(child)]);
}

const traceIds = () => new Set(receiver.spans.map(({ traceId }) => traceId));

test("a call is one trace, begun by the caller; every span has its parent and has ended", () => {
  expect(runs.flatMap(({ failures }) => failures)).toEqual([]);
  expect(traceIds().size).toBe(runs.length);
  const roots = receiver.spans.filter(({ parentSpanId }) => parentSpanId === "");
  expect(roots.map(({ service, name }) => `${service} ${name}`).sort()).toEqual(
    runs.map(({ scenario }) => `offhook-caller call ${scenario}`).sort(),
  );
  const known = new Set(receiver.spans.map(({ spanId }) => spanId));
  expect(receiver.spans.filter((span) => span.parentSpanId !== "" && !known.has(span.parentSpanId))).toEqual(
    [],
  );
  expect(receiver.spans.filter(({ startNs, endNs }) => endNs < startNs)).toEqual([]);
});

test("each tool call has its span, and below it the statement or search as its vendor saw it", () => {
  const tools = receiver.spans.filter(({ name }) => name.startsWith("execute_tool "));
  expect(tools).toHaveLength(runs.reduce((calls, run) => calls + run.toolCalls, 0));
  for (const tool of tools) {
    expect(tool.attributes).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.name": tool.name.replace("execute_tool ", ""),
      "gen_ai.tool.call.id": expect.any(String),
    });
    const asked = below(tool).filter(
      ({ kind, attributes }) => kind === SERVER && "db.system.name" in attributes,
    );
    expect(asked.length, `${tool.name} has nothing below it`).toBeGreaterThan(0);
    for (const span of asked) {
      expect(span).toMatchObject({ service: "offhook-twins", traceId: tool.traceId });
      expect(["postgresql", "elasticsearch", "splunk"]).toContain(span.attributes["db.system.name"]);
    }
  }
});

test("the webhook of a tool continues the answer that it holds up", () => {
  const webhooks = receiver.spans.filter(({ name, kind }) => name === "POST /tool" && kind === SERVER);
  expect(webhooks.length).toBeGreaterThan(0);
  const byId = new Map(receiver.spans.map((span) => [span.spanId, span]));
  for (const webhook of webhooks) {
    const request = byId.get(webhook.parentSpanId);
    expect(request).toMatchObject({ service: "offhook-twins", name: "POST", kind: CLIENT });
    const turn = byId.get(request?.parentSpanId ?? "");
    expect(turn).toMatchObject({ service: "offhook-twins", name: "turn" });
    // An answer that the caller talks over before it begins has none of its steps.
    if (turn?.attributes["offhook.turn.abandoned"] === true) continue;
    expect(turn && childrenOf(turn).map(({ name }) => name)).toEqual(
      expect.arrayContaining(["endpointing", "transcription", "chat gpt-4.1-mini", "speech synthesis"]),
    );
  }
});

test("no span holds a secret, an address of a call socket, or what a tool was told", () => {
  const text = JSON.stringify(receiver.spans, (_, value) => (typeof value === "bigint" ? `${value}` : value));
  for (const secret of secrets) expect(text).not.toContain(secret);
  expect(text).not.toMatch(/wss?:\/\//);
  expect(text).not.toContain("traceparent");
  const statements = receiver.spans.flatMap(({ attributes }) => attributes["db.query.text"] ?? []);
  for (const statement of statements) expect(statement).not.toMatch(/'|checkout/);
});

test("the agent's metrics arrive with the names and bounds of /metrics", () => {
  expect(receiver.headers["x-collector-key"]).toBe("a-collector-key");
  const setup = receiver.metrics.find(({ name }) => name === "offhook_call_setup_seconds");
  expect(setup).toMatchObject({ service: "offhook-agent", type: "histogram", unit: "s" });
  const [point] = setup?.points ?? [];
  expect(point?.bounds).toEqual([0.005, 0.025, 0.1, 0.25, 0.5, 0.8, 1.2, 1.8, 2.5, 4, 6, 10, 15, 30]);
  expect(point?.counts?.reduce((sum, one) => sum + one, 0)).toBe(point?.count);
  expect(point?.count).toBeGreaterThan(0);
  const calls = receiver.metrics.find(({ name }) => name === "offhook_calls_total");
  expect(calls).toMatchObject({ type: "sum", points: [{ attributes: { outcome: "completed" } }] });
});

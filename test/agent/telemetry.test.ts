import { rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startOtlpReceiver } from "@offhook/platform/testing/otlp-receiver";
import { expect, test } from "vitest";
import { readTelemetrySettings } from "../../agent/telemetry/settings.ts";
import { Command, makeFolder } from "../support/command.ts";
import { StandInRuntime } from "../support/stand-in-runtime.ts";
import { VoiceClient } from "../support/voice-client.ts";

const ENDPOINT = "http://127.0.0.1:4318";

test("without an endpoint, or when it is disabled, telemetry is off", () => {
  expect(readTelemetrySettings({})).toBeUndefined();
  expect(readTelemetrySettings({ OTEL_EXPORTER_OTLP_ENDPOINT: " " })).toBeUndefined();
  expect(readTelemetrySettings({ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_SDK_DISABLED: "TRUE" })).toBe(
    undefined,
  );
});

test("an endpoint of one signal turns on that one alone, and none turns one off", () => {
  expect(
    readTelemetrySettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${ENDPOINT}/v1/traces` }),
  ).toMatchObject({
    traces: true,
    metrics: false,
  });
  const both = { OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT };
  expect(readTelemetrySettings(both)).toMatchObject({ traces: true, metrics: true });
  expect(readTelemetrySettings({ ...both, OTEL_TRACES_EXPORTER: "none" })).toMatchObject({
    traces: false,
    metrics: true,
  });
});

test("another protocol, sampler or address is refused by name, and its value is not told", () => {
  const wrong = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "grpc://user:a-password@collector",
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
    OTEL_TRACES_SAMPLER: "sometimes",
  };
  const read = () => readTelemetrySettings(wrong);
  expect(read).toThrow(/OTEL_EXPORTER_OTLP_PROTOCOL must be http\/protobuf/);
  expect(read).toThrow(/OTEL_TRACES_SAMPLER must be one of always_on/);
  expect(read).toThrow(/OTEL_EXPORTER_OTLP_ENDPOINT must be an address/);
  expect(read).not.toThrow(/a-password/);
});

/** Runs an agent for one call. @returns the modules that it loaded, and the log lines of the call */
async function observeCall(variables: Record<string, string>) {
  const runtime = await StandInRuntime.start();
  const folder = makeFolder();
  const file = join(folder, "modules");
  const recorder = new URL("../support/loaded-modules.mjs", import.meta.url);
  const agent = new Command(
    "../agent/main.ts",
    [],
    {
      VAPI_API_KEY: "a-key",
      VOICE_API_URL: runtime.url,
      PORT: "0",
      NODE_OPTIONS: `--import ${recorder}`,
      LOADED_MODULES: file,
      ...variables,
    },
    undefined,
    folder,
  );
  try {
    const { 1: url = "" } = /"url":"([^"]+)"/.exec(await agent.output(/agent listens on/)) ?? [];
    const client = await VoiceClient.connect(url);
    await (await runtime.call()).connected();
    client.hangUp();
    await client.gone();
    agent.interrupt("SIGTERM");
    const { stdout } = await agent.finished();
    const lines = stdout.split("\n").filter((line) => line.includes('"call":'));
    return {
      modules: await readFile(file, "utf8"),
      lines: lines.map((line): Record<string, unknown> => JSON.parse(line)),
    };
  } finally {
    agent.interrupt("SIGKILL");
    await runtime.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const SDK = /\/telemetry\/sdk\.ts|@opentelemetry\/(sdk|exporter)/;

test("without an endpoint nothing of the SDK is loaded, and log lines name no trace", async () => {
  const { modules, lines } = await observeCall({});
  expect(modules).toContain("/agent/telemetry/observe-process.ts");
  expect(modules).not.toMatch(SDK);
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(line).not.toHaveProperty("trace_id");
});

test("with an endpoint each log line of a call names its trace and a span of it", async () => {
  const receiver = await startOtlpReceiver();
  const { modules, lines } = await observeCall({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  await receiver.close();
  expect(modules).toMatch(SDK);
  const spans = new Set(receiver.spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`));
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) expect(spans).toContain(`${line.trace_id} ${line.span_id}`);
});

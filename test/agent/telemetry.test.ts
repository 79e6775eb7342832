import { expect, test } from "vitest";
import { readTelemetrySettings } from "../../agent/telemetry/settings.ts";

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

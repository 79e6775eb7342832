/**
 * Which telemetry is exported. The SDK itself reads the rest of the standard variables from the environment: headers,
 * time limits, certificates, OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, OTEL_BSP_*, span limits.
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
import { z } from "zod";
import { ConfigError } from "../config.ts";

const PROTOCOL = "http/protobuf";
const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

const endpoint = z
  .url({ protocol: /^https?$/, error: "must be an address that begins with http:// or https://" })
  .optional();
const protocol = z
  .literal(PROTOCOL, `must be ${PROTOCOL}, the only protocol this program speaks (port 4318 of a collector)`)
  .optional();
const exporter = z.enum(["otlp", "none"], "must be otlp or none").default("otlp");
const milliseconds = z.coerce.number().int().min(100).max(3_600_000);

const schema = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocol,
  OTEL_TRACES_EXPORTER: exporter,
  OTEL_METRICS_EXPORTER: exporter,
  OTEL_TRACES_SAMPLER: z.enum(SAMPLERS, `must be one of ${SAMPLERS.join(", ")}`).optional(),
  OTEL_METRIC_EXPORT_INTERVAL: milliseconds.default(60_000),
  OTEL_SDK_DISABLED: z.string().optional(),
});

/** The signals that have an endpoint. */
export interface TelemetrySettings {
  traces: boolean;
  metrics: boolean;
  metricIntervalMs: number;
}

/**
 * Reads the standard variables; an empty one counts as unset.
 * @returns `undefined` when nothing is exported
 * @throws ConfigError naming each variable that is wrong, never its value
 */
export function readTelemetrySettings(
  env: Readonly<Record<string, string | undefined>>,
): TelemetrySettings | undefined {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true") return undefined;
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  const parsed = schema.safeParse(present);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `  ${issue.path.join(".")} ${issue.message}`);
    throw new ConfigError(`Telemetry cannot be exported:\n${problems.join("\n")}`);
  }
  const values = parsed.data;
  const common = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  const traces =
    values.OTEL_TRACES_EXPORTER === "otlp" &&
    (values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? common) !== undefined;
  const metrics =
    values.OTEL_METRICS_EXPORTER === "otlp" &&
    (values.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT ?? common) !== undefined;
  if (!traces && !metrics) return undefined;
  return { traces, metrics, metricIntervalMs: values.OTEL_METRIC_EXPORT_INTERVAL };
}

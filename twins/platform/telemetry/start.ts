/**
 * Starts tracing, if the environment says so. The SDK itself reads the rest of the standard variables from the environment: headers,
 * time limits, certificates, OTEL_RESOURCE_ATTRIBUTES, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, OTEL_BSP_*, span limits.
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
import type { Logger } from "pino";
import { z } from "zod";
import { NO_TELEMETRY, type Telemetry } from "./telemetry.ts";

const PROTOCOL = "http/protobuf";

const endpoint = z
  .url({ protocol: /^https?$/, error: "must be an address that begins with http:// or https://" })
  .optional();
const protocol = z
  .literal(PROTOCOL, `must be ${PROTOCOL}, the only protocol this program speaks (port 4318 of a collector)`)
  .optional();

const schema = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol,
  OTEL_TRACES_EXPORTER: z.enum(["otlp", "none"], "must be otlp or none").default("otlp"),
  OTEL_SDK_DISABLED: z.string().optional(),
});

/** The variables that turn tracing on name something that it cannot do. */
export class TelemetryError extends Error {
  override name = "TelemetryError";
}

/**
 * Reads the standard variables; an empty one counts as unset.
 * @throws TelemetryError naming each variable that is wrong, never its value
 */
function exportsTraces(env: Readonly<Record<string, string | undefined>>): boolean {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true") return false;
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  const parsed = schema.safeParse(present);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `  ${issue.path.join(".")} ${issue.message}`);
    throw new TelemetryError(`Traces cannot be exported:\n${problems.join("\n")}`);
  }
  const { OTEL_TRACES_EXPORTER: exporter, ...values } = parsed.data;
  const address = values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? values.OTEL_EXPORTER_OTLP_ENDPOINT;
  return exporter === "otlp" && address !== undefined;
}

/**
 * Starts tracing if the environment of this process names an endpoint. The SDK is loaded only then.
 * @param service its `service.name`, unless OTEL_SERVICE_NAME is set
 * @throws TelemetryError naming what is wrong in the environment
 */
export async function startTelemetry(service: string, log: Logger): Promise<Telemetry> {
  if (!exportsTraces(process.env)) return NO_TELEMETRY;
  const { startSdk } = await import("./sdk.ts");
  return startSdk(service, log);
}

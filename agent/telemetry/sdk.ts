/** The OpenTelemetry SDK of the agent. Loaded only when telemetry is on. */
import { randomUUID } from "node:crypto";
import {
  type Context,
  context,
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  ROOT_CONTEXT,
  trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { ATTR_SERVICE_INSTANCE_ID, ATTR_SERVICE_NAME } from "@opentelemetry/semantic-conventions";
import type { Logger } from "pino";
import { pause } from "../deadline.ts";
import { FirstTimes, safeText } from "../log.ts";
import { ContextManager } from "./contexts.ts";
import { MetricsProducer } from "./metrics-producer.ts";
import { traceOutgoingRequests } from "./outgoing-requests.ts";
import type { TelemetrySettings } from "./settings.ts";
import type { Telemetry } from "./telemetry.ts";

const SERVICE_NAME = "offhook-agent";
/** Time that spans and metrics of an agent that ends have to be sent. */
export const STOP_TIMEOUT_MS = 3_000;

/**
 * Starts the SDK, and registers it as this process's, so that libraries with spans of their own, and tools that want some,
 * find it through `@opentelemetry/api`.
 */
export function startSdk(settings: TelemetrySettings, log: Logger): Telemetry {
  diag.setLogger(diagnosticsFor(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const resource = describeResource();
  const provider = new BasicTracerProvider({
    resource,
    spanProcessors: settings.traces ? [new BatchSpanProcessor(new OTLPTraceExporter())] : [],
  });
  const propagator = new W3CTraceContextPropagator();
  const contexts = new ContextManager().enable();
  context.setGlobalContextManager(contexts);
  trace.setGlobalTracerProvider(provider);
  const tracer = provider.getTracer("offhook");
  const inject = (of: Context): Record<string, string> => {
    const headers: Record<string, string> = {};
    propagator.inject(of, headers, defaultTextMapSetter);
    return headers;
  };
  const untrace = settings.traces ? traceOutgoingRequests(tracer, inject) : () => undefined;
  let meters: MeterProvider | undefined;
  return {
    tracer,
    extract: (headers) => propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter),
    inject: settings.traces ? inject : () => ({}),
    exportMetrics(metrics) {
      if (!settings.metrics || meters !== undefined) return;
      const reader = new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(),
        exportIntervalMillis: settings.metricIntervalMs,
        exportTimeoutMillis: Math.min(settings.metricIntervalMs, 30_000),
        metricProducers: [new MetricsProducer(metrics, resource)],
      });
      meters = new MeterProvider({ resource, readers: [reader] });
    },
    async stop() {
      untrace();
      const timeout = new AbortController();
      const ended = Promise.allSettled([provider.shutdown(), meters?.shutdown()]);
      await Promise.race([ended, pause(STOP_TIMEOUT_MS, timeout.signal)]);
      timeout.abort();
      trace.disable();
      context.disable();
      diag.disable();
    },
  };
}

/** What the process is; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win. */
function describeResource(): Resource {
  return defaultResource()
    .merge(
      resourceFromAttributes({
        [ATTR_SERVICE_NAME]: SERVICE_NAME,
        [ATTR_SERVICE_INSTANCE_ID]: randomUUID(),
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
}

/** Logs what the SDK complains of, each kind once: an unreachable collector would fill the log. */
function diagnosticsFor(log: Logger) {
  const logged = new FirstTimes();
  const headers = process.env.OTEL_EXPORTER_OTLP_HEADERS ?? "";
  const secrets = [headers, ...headers.split(",").map((pair) => pair.slice(pair.indexOf("=") + 1))];
  const warn = (message: string, ...details: unknown[]) => {
    const reason = safeText([message, ...details].map(String).join(" "), secrets);
    if (logged.isFirst(reason)) log.warn({ reason }, "telemetry is not exported as it should; said once");
  };
  const ignore = () => undefined;
  return { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
}

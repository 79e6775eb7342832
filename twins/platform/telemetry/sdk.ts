/** The OpenTelemetry SDK of twins and caller. Loaded only when tracing is on. */
import { randomUUID } from "node:crypto";
import {
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  ROOT_CONTEXT,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { ATTR_SERVICE_INSTANCE_ID, ATTR_SERVICE_NAME } from "@opentelemetry/semantic-conventions";
import type { Logger } from "pino";
import { endWithin } from "../base/deadline.ts";
import type { Telemetry } from "./telemetry.ts";

const STOP_TIMEOUT_MS = 3_000;
const MAX_COMPLAINTS = 16;

/** Starts the SDK. It is not registered as this process's: several parts with spans of their own may share a process. */
export function startSdk(service: string, log: Logger): Telemetry {
  diag.setLogger(diagnosticsFor(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const resource = defaultResource()
    .merge(resourceFromAttributes({ [ATTR_SERVICE_NAME]: service, [ATTR_SERVICE_INSTANCE_ID]: randomUUID() }))
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new BasicTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const propagator = new W3CTraceContextPropagator();
  return {
    isOn: true,
    tracer: provider.getTracer("offhook"),
    extract: (headers) => propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter),
    inject: (context) => {
      const headers: Record<string, string> = {};
      propagator.inject(context, headers, defaultTextMapSetter);
      return headers;
    },
    async stop() {
      // What cannot be exported is lost, which the diagnostics have said.
      await endWithin(STOP_TIMEOUT_MS, provider.shutdown()).catch(() => undefined);
    },
  };
}

/** Logs what the SDK complains of, each kind once: an unreachable collector would fill the log. */
function diagnosticsFor(log: Logger) {
  const logged = new Set<string>();
  const warn = (message: string) => {
    if (logged.has(message) || logged.size >= MAX_COMPLAINTS) return;
    logged.add(message);
    // What follows the message may quote headers, and with them a key.
    log.warn({ reason: message.slice(0, 300) }, "traces are not exported as they should; said once");
  };
  const ignore = () => undefined;
  return { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
}

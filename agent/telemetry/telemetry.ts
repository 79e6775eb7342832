/** OpenTelemetry of the agent: off, and nothing of its SDK loaded, unless an endpoint is set. */
import { type Context, ProxyTracerProvider, ROOT_CONTEXT, type Tracer } from "@opentelemetry/api";
import type { AgentMetrics } from "../metrics.ts";

/** Headers as they came with a request. */
type IncomingHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The agent's way to its spans; when it is off, every span is a no-op and no header is added. */
export interface Telemetry {
  readonly tracer: Tracer;
  /** The context that a request continues, by its `traceparent`. */
  extract(headers: IncomingHeaders): Context;
  /** The headers that make a request continue this context; none when tracing is off. */
  inject(context: Context): Record<string, string>;
  /** Exports the metrics from now on. */
  exportMetrics(metrics: AgentMetrics): void;
  /** Exports what is left, within seconds, and ends. */
  stop(): Promise<void>;
}

/** Telemetry that is off. */
export const NO_TELEMETRY: Telemetry = {
  tracer: new ProxyTracerProvider().getTracer("offhook"),
  extract: () => ROOT_CONTEXT,
  inject: () => ({}),
  exportMetrics: () => undefined,
  stop: async () => undefined,
};

/** OpenTelemetry of twins and caller: off, and nothing of its SDK loaded, unless an endpoint is set. */
import { type Context, ProxyTracerProvider, ROOT_CONTEXT, type Tracer } from "@opentelemetry/api";

/** Headers as they came with a request, or values like them. */
export type Carrier = Readonly<Record<string, string | string[] | number | undefined>>;

/** The way to spans; when it is off, every span is a no-op and no header is added. */
export interface Telemetry {
  readonly isOn: boolean;
  readonly tracer: Tracer;
  /** The context that a request continues, by its `traceparent`; the root without a valid one. */
  extract(headers: Carrier): Context;
  /** The headers that make a request continue this context; none when tracing is off. */
  inject(context: Context): Record<string, string>;
  /** Exports what is left, within seconds, and ends. */
  stop(): Promise<void>;
}

/** Telemetry that is off. */
export const NO_TELEMETRY: Telemetry = {
  isOn: false,
  tracer: new ProxyTracerProvider().getTracer("offhook"),
  extract: () => ROOT_CONTEXT,
  inject: () => ({}),
  stop: async () => undefined,
};

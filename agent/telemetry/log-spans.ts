/** The trace and span that a log line belongs to, for the log of an agent that traces. */
import { isSpanContextValid, type SpanContext, trace } from "@opentelemetry/api";
import type { Logger } from "pino";

/** Adds `trace_id` and `span_id` to lines: those of the running span, or else of the call that the logger is of. */
export class LogSpans {
  readonly #calls = new WeakMap<object, SpanContext>();

  /** The lines of this logger belong to a span, unless they are written inside another one. */
  follow(log: Logger, span: SpanContext): void {
    if (isSpanContextValid(span)) this.#calls.set(log, span);
  }

  /** For pino's `mixin`. */
  readonly mixin = (_details: object, _level: number, log: object): object => {
    const span = trace.getActiveSpan()?.spanContext() ?? this.#calls.get(log);
    return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
  };
}

/** The spans of a call from the caller's side: the whole call, and each turn of either side. They hold no words. */

import type { Telemetry } from "@offhook/platform/telemetry/telemetry";
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { CallEvent, CallReport } from "./call-report.ts";

/** Home-made attributes; twins/README.md explains them. */
const ATTR_SCENARIO = "offhook.scenario";
const ATTR_SPEED = "offhook.call.speed";
const ATTR_OUTCOME = "offhook.call.outcome";
const ATTR_MEDIA_MS = "offhook.media.duration_ms";
const ATTR_RESPONSE_MS = "offhook.turn.response_ms";
const ATTR_SAMPLE = "offhook.turn.sample";

export class CallSpans {
  readonly #telemetry: Telemetry;
  readonly #span: Span;
  readonly #context: Context;
  #callerTurn: Span | undefined;
  #calleeTurn: Span | undefined;

  constructor(telemetry: Telemetry, of: { scenario: string; speed: number }) {
    this.#telemetry = telemetry;
    this.#span = telemetry.tracer.startSpan(
      `call ${of.scenario}`,
      { kind: SpanKind.CLIENT, attributes: { [ATTR_SCENARIO]: of.scenario, [ATTR_SPEED]: of.speed } },
      ROOT_CONTEXT,
    );
    this.#context = trace.setSpan(ROOT_CONTEXT, this.#span);
  }

  /** Headers by which the callee continues the call's trace; none when tracing is off. */
  get headers(): Record<string, string> {
    return this.#telemetry.inject(this.#context);
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  note(event: CallEvent): void {
    switch (event.type) {
      case "answered":
        this.#span.addEvent("answered");
        return;
      case "caller-speaks":
        this.#callerTurn = this.#start("caller speaks");
        return;
      case "caller-spoke": {
        const { startMs, endMs, sample } = event.turn;
        this.#callerTurn?.setAttributes({ [ATTR_MEDIA_MS]: endMs - startMs, [ATTR_SAMPLE]: sample });
        this.#callerTurn?.end();
        return;
      }
      case "callee-speaks":
        this.#calleeTurn = this.#start("callee speaks");
        if (event.responseMs !== null) this.#calleeTurn.setAttribute(ATTR_RESPONSE_MS, event.responseMs);
        return;
      case "callee-spoke":
        this.#calleeTurn?.setAttribute(ATTR_MEDIA_MS, event.turn.endMs - event.turn.startMs);
        this.#calleeTurn?.end();
        return;
    }
  }

  /** @param report absent: the call could not be made */
  end(report?: CallReport): void {
    const outcome = report?.outcome ?? "error";
    this.#span.setAttribute(ATTR_OUTCOME, outcome);
    if (outcome !== "completed") this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end();
  }

  #start(name: string): Span {
    return this.#telemetry.tracer.startSpan(name, {}, this.#context);
  }
}

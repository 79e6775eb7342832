/** The spans of one phone call: the call, its set-up, and how long each answer took. Nothing here runs for a frame of audio. */
import { type Context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
} from "@opentelemetry/semantic-conventions";
import type { Telemetry } from "./telemetry.ts";

/** Home-made attributes; README.md of the agent explains them. */
const ATTR_CALL_ID = "offhook.call.id";
const ATTR_SIMULATION_ID = "offhook.simulation.id";
const ATTR_FRAMING = "offhook.call.framing";
const ATTR_OUTCOME = "offhook.call.outcome";
const ATTR_RUNTIME_CALL_ID = "offhook.runtime.call.id";

export interface TracedCall {
  id: string;
  simulationId: string | undefined;
  framing: string;
}

export class CallTrace {
  /** The context of everything that belongs to the call. */
  readonly context: Context;
  readonly span: Span;
  readonly #telemetry: Telemetry;
  #setUp: Context | undefined;

  /** @param parent what the caller's request continues */
  constructor(telemetry: Telemetry, parent: Context, { id, simulationId, framing }: TracedCall) {
    this.#telemetry = telemetry;
    const attributes = {
      [ATTR_HTTP_REQUEST_METHOD]: "GET",
      [ATTR_HTTP_ROUTE]: "/voice",
      [ATTR_HTTP_RESPONSE_STATUS_CODE]: 101,
      [ATTR_CALL_ID]: id,
      [ATTR_FRAMING]: framing,
      ...(simulationId === undefined ? {} : { [ATTR_SIMULATION_ID]: simulationId }),
    };
    this.span = this.#tracer.startSpan("GET /voice", { kind: SpanKind.SERVER, attributes }, parent);
    this.context = trace.setSpan(parent, this.span);
  }

  /** Headers by which requests made for this call continue its trace. */
  get headers(): Record<string, string> {
    return this.#telemetry.inject(this.context);
  }

  /** Runs the set-up of the call in a span. */
  setUp<Result>(work: () => Promise<Result>): Promise<Result> {
    const span = this.#tracer.startSpan("set up call", {}, this.context);
    this.#setUp = trace.setSpan(this.context, span);
    return inSpan(span, work);
  }

  /** Runs a step of the set-up that asks the runtime. @param work gets the headers to send along */
  step<Result>(name: string, work: (headers: Record<string, string>) => Promise<Result>): Promise<Result> {
    const parent = this.#setUp ?? this.context;
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT }, parent);
    return inSpan(span, () => work(this.#telemetry.inject(trace.setSpan(parent, span))));
  }

  /** @param runtimeCallId the runtime's id of the call, if it gave one */
  connected(runtimeCallId: string | undefined): void {
    if (runtimeCallId !== undefined) this.span.setAttribute(ATTR_RUNTIME_CALL_ID, runtimeCallId);
  }

  /** The assistant was first heard. */
  firstAudio(): void {
    this.span.addEvent("first audio");
  }

  /** The assistant answered, so long after the caller was last heard. */
  response(durationMs: number): void {
    const endedAt = Date.now();
    this.#tracer.startSpan("response", { startTime: endedAt - durationMs }, this.context).end(endedAt);
  }

  end(outcome: string): void {
    this.span.setAttribute(ATTR_OUTCOME, outcome);
    if (outcome !== "completed" && outcome !== "shut_down") {
      this.span.setAttribute(ATTR_ERROR_TYPE, outcome);
      this.span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end();
  }

  get #tracer(): Tracer {
    return this.#telemetry.tracer;
  }
}

/** Runs work and ends its span with it. Of an error only its class is told: its message may quote what was sent. */
export async function inSpan<Result>(span: Span, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    span.setAttribute(ATTR_ERROR_TYPE, error instanceof Error ? error.name : "error");
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}

/** The spans of one call: the call, each answer with what it waited for, and the webhooks. None of them holds what was said. */
import { wallTime } from "@offhook/platform/base/clock";

import type { WebhookAnswer } from "@offhook/platform/client/webhook";
import type { Carrier, Telemetry } from "@offhook/platform/telemetry/telemetry";
import { type Context, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import {
  ATTR_ERROR_TYPE,
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_REQUEST_RESEND_COUNT,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_SERVER_ADDRESS,
} from "@opentelemetry/semantic-conventions";
import type { AnswerTimes, AnswerTrace, CallPlan, CallTrace } from "../session/contract.ts";

/** Of the semantic conventions for generative AI, which are not stable yet. */
const ATTR_GEN_AI_CONVERSATION_ID = "gen_ai.conversation.id";
const ATTR_GEN_AI_OPERATION_NAME = "gen_ai.operation.name";
const ATTR_GEN_AI_PROVIDER_NAME = "gen_ai.provider.name";
const ATTR_GEN_AI_REQUEST_MODEL = "gen_ai.request.model";
/** Home-made attributes; twins/README.md explains them. */
const ATTR_SIMULATION_ID = "offhook.simulation.id";
const ATTR_ENDED_REASON = "offhook.call.ended_reason";
const ATTR_MEDIA_MS = "offhook.media.duration_ms";
const ATTR_ABANDONED = "offhook.turn.abandoned";
const ATTR_PROVIDER = "offhook.provider";
const ATTR_MODEL = "offhook.model";

/** One request to a client's webhook. */
export interface WebhookSpan {
  /** The request's headers, which continue the trace. */
  headers: Record<string, string>;
  end(answer: WebhookAnswer): void;
}

export class CallSpans implements CallTrace {
  readonly #telemetry: Telemetry;
  readonly #plan: CallPlan;
  readonly #span: Span;
  readonly #context: Context;
  #pausedAt: number | undefined;

  /** @param headers of the request that created the call; without a `traceparent` the call begins a trace */
  constructor(telemetry: Telemetry, plan: CallPlan, headers: Carrier) {
    this.#telemetry = telemetry;
    this.#plan = plan;
    const parent = telemetry.extract(headers);
    const attributes = {
      [ATTR_GEN_AI_CONVERSATION_ID]: plan.callId,
      ...(plan.simulationId === undefined ? {} : { [ATTR_SIMULATION_ID]: plan.simulationId }),
    };
    this.#span = telemetry.tracer.startSpan("call", { attributes }, parent);
    this.#context = trace.setSpan(parent, this.#span);
  }

  callerPaused(): void {
    this.#pausedAt = wallTime();
  }

  beginAnswer(): AnswerTrace {
    const beganAt = this.#pausedAt ?? wallTime();
    this.#pausedAt = undefined;
    const span = this.#telemetry.tracer.startSpan("turn", { startTime: beganAt }, this.#context);
    const context = trace.setSpan(this.#context, span);
    let isOpen = true;
    const end = () => {
      if (isOpen) span.end();
      isOpen = false;
    };
    return {
      context,
      answered: (times) => {
        if (isOpen) this.#addSteps(context, beganAt, times);
        end();
      },
      abandoned: () => {
        if (isOpen) span.setAttribute(ATTR_ABANDONED, true);
        end();
      },
    };
  }

  /**
   * @param given the headers to send
   * @param attempt from 0 on
   */
  webhook(url: string, given: Record<string, string>, attempt: number, parent = this.#context): WebhookSpan {
    const attributes = {
      [ATTR_HTTP_REQUEST_METHOD]: "POST",
      ...(URL.canParse(url) ? { [ATTR_SERVER_ADDRESS]: new URL(url).hostname } : {}),
      ...(attempt > 0 ? { [ATTR_HTTP_REQUEST_RESEND_COUNT]: attempt } : {}),
    };
    const span = this.#telemetry.tracer.startSpan("POST", { kind: SpanKind.CLIENT, attributes }, parent);
    return {
      headers: replaceHeaders(given, this.#telemetry.inject(trace.setSpan(parent, span))),
      end(answer) {
        if (answer.kind === "answered") span.setAttribute(ATTR_HTTP_RESPONSE_STATUS_CODE, answer.status);
        if (answer.kind !== "answered" || answer.status >= 400) {
          span.setAttribute(
            ATTR_ERROR_TYPE,
            answer.kind === "answered" ? String(answer.status) : answer.kind,
          );
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  }

  end(endedReason: string): void {
    this.#span.setAttribute(ATTR_ENDED_REASON, endedReason);
    if (endedReason.split(/[-.]/).includes("error")) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.end();
  }

  /** The steps of an answer: how long the caller's end was waited for, the transcriber, the model and the voice. */
  #addSteps(context: Context, beganAt: number, times: AnswerTimes): void {
    const { model, voice, transcriber } = this.#plan.assistant;
    const { tracer } = this.#telemetry;
    const add = (name: string, from: number, to: number, attributes: Record<string, string | number>) =>
      tracer.startSpan(name, { startTime: from, attributes }, context).end(Math.max(from, to));
    const { closedAt, askedAt, transcriberMs, modelMs, voiceMs, endpointingMediaMs } = times;
    add("endpointing", beganAt, closedAt, { [ATTR_MEDIA_MS]: endpointingMediaMs });
    add("transcription", beganAt, beganAt + transcriberMs, {
      [ATTR_PROVIDER]: transcriber.provider,
      [ATTR_MODEL]: transcriber.model,
    });
    add(`chat ${model.model}`, askedAt, askedAt + modelMs, {
      [ATTR_GEN_AI_OPERATION_NAME]: "chat",
      [ATTR_GEN_AI_PROVIDER_NAME]: model.provider,
      [ATTR_GEN_AI_REQUEST_MODEL]: model.model,
    });
    add("speech synthesis", askedAt + modelMs, askedAt + modelMs + voiceMs, {
      [ATTR_PROVIDER]: voice.provider,
    });
  }
}

/** Headers in which some are replaced, whatever the case of their names. */
function replaceHeaders(given: Record<string, string>, by: Record<string, string>): Record<string, string> {
  const kept = Object.entries(given).filter(([name]) => by[name.toLowerCase()] === undefined);
  return { ...Object.fromEntries(kept), ...by };
}

/**
 * One call from its creation to its end: holds its session, stores what the session reports, and sends the server
 * messages. queued → in-progress → ended; an unconnected call goes from queued to ended.
 */

import type { CallbackDestination } from "@offhook/platform/client/destination";
import type { Logger } from "pino";
import type { WebSocket } from "ws";
import type { Brain, Recognition, Synthesis } from "../providers/provider.ts";
import { CallAudio } from "../recordings/call-audio.ts";
import { CallListeners } from "../recordings/call-listeners.ts";
import type { RecordingStore } from "../recordings/recording-store.ts";
import type { Assistant } from "../schema/assistant.ts";
import type {
  CallPlan,
  CallSession,
  CreateSession,
  EndedCall,
  SessionCommand,
  SessionRecord,
  TurnLatency,
} from "../session/contract.ts";
import type { WebhookExchanges } from "../webhooks/exchanges.ts";
import { withOrganisationServer } from "../webhooks/server.ts";
import {
  createServerMessages,
  type RuntimeMessage,
  type ServerMessages,
} from "../webhooks/server-messages.ts";
import { type ArgumentsForm, createToolWebhook } from "../webhooks/tool-webhook.ts";
import { performanceMetrics } from "./artifact.ts";
import type { CallSpans } from "./call-spans.ts";
import type { CallStore } from "./call-store.ts";

/** No client opened the call socket. Source: CallEndedReason of @vapi-ai/server-sdk. */
export const NEVER_CONNECTED = "call.in-progress.error-vapifault-transport-never-connected";
/** The session failed. */
const SESSION_FAILED = "call.in-progress.error-vapifault-worker-died";
/** Time a session has to end. */
const END_LIMIT_MS = 3_000;

export interface LiveCallParts {
  plan: CallPlan;
  assistant: Assistant;
  store: CallStore;
  recordings: RecordingStore;
  providers: { recognition: Recognition; synthesis: Synthesis; brain: Brain };
  createSession: CreateSession;
  toolArguments: ArgumentsForm;
  exchanges: WebhookExchanges;
  /** Where webhooks go when neither the assistant nor the tool names a server. */
  callbackDestination: CallbackDestination | undefined;
  spans: CallSpans;
  log: Logger;
}

export class LiveCall {
  readonly id: string;
  readonly assistant: Assistant;
  /** Resolves once the call has ended and its rows are stored. */
  readonly closed: Promise<void>;
  #session: CallSession | undefined;
  #claimed = false;
  #ended = false;
  #ending: NodeJS.Timeout | undefined;
  #resolveClosed: () => void = () => undefined;
  readonly #parts: LiveCallParts;
  readonly #audio: CallAudio;
  readonly #listeners: CallListeners;
  /** The assistant with the server that its webhooks use. */
  readonly #webhookAssistant: Assistant;
  readonly #serverMessages: ServerMessages;

  constructor(parts: LiveCallParts) {
    const { store, assistant } = parts;
    this.id = parts.plan.callId;
    this.assistant = assistant;
    this.#parts = parts;
    const { sampleRate } = parts.plan.audioFormat;
    this.#audio = new CallAudio(sampleRate);
    this.#listeners = new CallListeners(sampleRate, parts.log);
    this.#audio.add(this.#listeners);
    this.#webhookAssistant = withOrganisationServer(assistant, parts.callbackDestination);
    this.#serverMessages = createServerMessages({
      assistant: this.#webhookAssistant,
      envelope: () => store.envelope(this.id, assistant),
      now: store.now,
      spans: parts.spans,
      log: parts.log,
    });
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  get connected(): boolean {
    return this.#session !== undefined;
  }

  /** Reserves the call for one socket. @returns false when another has it */
  claim(): boolean {
    if (this.#claimed || this.#ended) return false;
    this.#claimed = true;
    return true;
  }

  /** Attaches the client's socket and starts the call. */
  connect(socket: WebSocket): void {
    if (this.#ended) {
      socket.close(1008, "call ended");
      return;
    }
    const { plan, createSession, log } = this.#parts;
    this.#startRecording();
    try {
      const session = createSession(plan, this.#sessionParts());
      this.#session = session;
      session.ended.then(
        (ended) => this.#close(ended),
        (error: unknown) => this.#fail(error, socket),
      );
      session.connect(socket);
    } catch (error) {
      log.error({ err: error }, "the session could not start");
      this.#fail(error, socket);
    }
  }

  /** Forwards a control command. @returns false when no live session can take it */
  command(command: SessionCommand): boolean {
    if (this.#ended) return false;
    if (this.#session) this.#session.command(command);
    else if (command.type === "end-call" || command.type === "hangup") this.end("manually-canceled");
    else return false;
    return true;
  }

  /** Whether another listener may join; the call is live. */
  get takesListeners(): boolean {
    return !this.#listeners.full;
  }

  /** Sends the call's audio and messages to a listener until the call ends. */
  listen(socket: WebSocket): void {
    if (this.#ended) socket.close(1000, "the call is over");
    else this.#listeners.add(socket);
  }

  /** Ends the call from the runtime's side. */
  end(endedReason: string, closeCode?: number): void {
    if (this.#ended) return;
    if (this.#session) {
      this.#session.end(endedReason, closeCode);
      this.#ending ??= setTimeout(() => this.#giveUp(endedReason), END_LIMIT_MS).unref();
      return;
    }
    this.#status("ended", endedReason);
    this.#serverMessages.send({ type: "status-update", status: "ended", endedReason });
    this.#close({ endedReason, durationMs: 0, turnLatencies: [], userInterruptions: 0 });
  }

  /** Sends the queued server messages; discards the rest after `limitMs`. */
  async flush(limitMs: number): Promise<void> {
    const timer = setTimeout(() => this.#serverMessages.stop(), limitMs);
    await this.#serverMessages.idle();
    clearTimeout(timer);
  }

  #sessionParts() {
    const { plan, store, assistant, providers, toolArguments, exchanges, spans, log } = this.#parts;
    const runTools = createToolWebhook({
      callId: plan.callId,
      exchanges,
      assistant: this.#webhookAssistant,
      argumentsForm: toolArguments,
      envelope: () => store.envelope(plan.callId, assistant),
      now: store.now,
      spans,
      log,
    });
    return {
      ...providers,
      audio: this.#audio,
      clock: { now: store.now },
      log,
      trace: spans,
      runTools,
      record: (entry: SessionRecord, latency?: TurnLatency) => store.record(plan, entry, latency),
      publish: (message: RuntimeMessage) => this.#publish(message),
      status: (status: "in-progress" | "ended", reason?: string) => this.#status(status, reason),
    };
  }

  #startRecording(): void {
    const { plan, assistant, recordings } = this.#parts;
    if (assistant.artifactPlan?.recordingEnabled === false) return;
    const recording = recordings.start(plan.callId, plan.audioFormat.sampleRate);
    if (recording !== undefined) this.#audio.add(recording);
  }

  /** Passes a message to the server, and to listeners what the client may get. */
  #publish(message: RuntimeMessage): void {
    this.#serverMessages.send(message);
    if (this.#parts.plan.assistant.clientMessages.includes(message.type)) this.#listeners.message(message);
  }

  #status(status: "in-progress" | "ended", endedReason?: string): void {
    if (status === "in-progress") this.#parts.store.markStarted(this.id);
    else this.#parts.store.markEnded(this.id, endedReason);
  }

  /** Abandons a session that did not end in time. */
  #giveUp(endedReason: string): void {
    this.#parts.log.error({ endedReason }, "the session did not end in time");
    this.#close({ endedReason, durationMs: 0, turnLatencies: [], userInterruptions: 0 });
  }

  #fail(error: unknown, socket: WebSocket): void {
    this.#parts.log.error({ err: error }, "the call failed");
    socket.close(1011, "internal error");
    this.#close({ endedReason: SESSION_FAILED, durationMs: 0, turnLatencies: [], userInterruptions: 0 });
  }

  #close(ended: EndedCall): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#ending);
    this.#audio.end();
    const { store, assistant, spans } = this.#parts;
    spans.end(ended.endedReason);
    store.recordOutcome(this.id, ended.endedReason, ended.durationMs, performanceMetrics(ended));
    this.#serverMessages.send({ type: "end-of-call-report", ...store.report(this.id, assistant) });
    this.#resolveClosed();
  }
}

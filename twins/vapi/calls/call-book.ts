/** The live calls of one sandbox: creates and finds them, expires unconnected ones, and limits their number. */
import { randomUUID } from "node:crypto";
import type { CallbackDestination } from "@offhook/platform/client/destination";
import type { Carrier, Telemetry } from "@offhook/platform/telemetry/telemetry";
import type { Logger } from "pino";
import type { WebSocket } from "ws";
import { withEndCallTools } from "../providers/built-in-tools.ts";
import type { Providers } from "../providers/choose.ts";
import type { RecordingStore } from "../recordings/recording-store.ts";
import type { Assistant, AssistantOverrides } from "../schema/assistant.ts";
import type { AudioFormat } from "../schema/call.ts";
import { toolName } from "../schema/model.ts";
import type { CallPlan, CreateSession } from "../session/contract.ts";
import type { WebhookExchanges } from "../webhooks/exchanges.ts";
import type { ArgumentsForm } from "../webhooks/tool-webhook.ts";
import type { CallRow } from "../world.ts";
import { CallSpans } from "./call-spans.ts";
import type { CallStore } from "./call-store.ts";
import { customLlmOf } from "./custom-llm.ts";
import { callAssistant } from "./effective-assistant.ts";
import { LiveCall, NEVER_CONNECTED } from "./live-call.ts";

const OVER_LIMIT = "call.start.error-subscription-concurrency-limit-reached";
/** Time a stopping twin gives the server messages of its calls. */
const FLUSH_LIMIT_MS = 2_000;
/** Time an ended call gives its remaining server messages. */
const REPORT_LIMIT_MS = 60_000;

export interface CallBookParts {
  store: CallStore;
  recordings: RecordingStore;
  providers: Providers;
  createSession: CreateSession;
  orgId: string;
  concurrencyLimit: number;
  connectTimeoutMs: number;
  toolArguments: ArgumentsForm;
  exchanges: WebhookExchanges;
  oddFrames: boolean;
  /** The callback destination registered now; a call keeps the one registered when it was created. */
  callbackDestination(): CallbackDestination | undefined;
  telemetry: Telemetry;
  log: Logger;
}

/** What `create` needs of a validated `POST /call` body. */
export interface CallSetup {
  /** With overrides merged in. */
  assistant: Assistant;
  /** As the client sent them; answers echo them. */
  given: {
    assistantId: string | undefined;
    assistant: Assistant | undefined;
    overrides: AssistantOverrides | undefined;
  };
  name: string | undefined;
  details: Record<string, unknown>;
  audio: AudioFormat;
  simulationId: string | undefined;
}

export interface CreatedCall {
  row: Readonly<CallRow>;
  subscriptionLimits: {
    concurrencyBlocked: boolean;
    concurrencyLimit: number;
    remainingConcurrentCalls: number;
  };
}

/** The result of claiming a call for a socket. */
export type Claim =
  | { ok: true; connect(socket: WebSocket): void }
  | { ok: false; reason: "unknown" | "taken" };

export class CallBook {
  readonly #parts: CallBookParts;
  readonly #live = new Map<string, LiveCall>();
  /** Calls that may still have server messages to send. */
  readonly #flushing = new Set<LiveCall>();
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(parts: CallBookParts) {
    this.#parts = parts;
  }

  /** @param headers of the request, whose trace the call continues */
  create(setup: CallSetup, headers: Carrier = {}): CreatedCall {
    const { concurrencyLimit } = this.#parts;
    this.expire();
    const blocked = this.#live.size >= concurrencyLimit;
    const row = this.#insert(setup, blocked ? "ended" : "queued");
    if (!blocked) this.#begin(row, setup, headers);
    return {
      row,
      subscriptionLimits: {
        concurrencyBlocked: blocked,
        concurrencyLimit,
        remainingConcurrentCalls: Math.max(0, concurrencyLimit - this.#live.size),
      },
    };
  }

  /** The live call of this id; ended calls are in the world only. */
  find(id: string): LiveCall | undefined {
    this.expire();
    return this.#live.get(id);
  }

  /** Reserves a call for a socket that is about to be accepted. */
  claim(id: string): Claim {
    const call = this.find(id);
    if (!call) return { ok: false, reason: "unknown" };
    if (!call.claim()) return { ok: false, reason: "taken" };
    return { ok: true, connect: (socket) => call.connect(socket) };
  }

  /** Ends queued calls that are overdue by the sandbox's clock, which a client may have moved. */
  expire(): void {
    const { store, connectTimeoutMs } = this.#parts;
    for (const call of this.#live.values()) {
      const row = call.connected ? undefined : store.get(call.id);
      if (row && store.now() - Date.parse(row.created_at) >= connectTimeoutMs) call.end(NEVER_CONNECTED);
    }
  }

  /** Ends every live call; resolves when their rows are stored and their servers were told or timed out. */
  async endAll(endedReason: string, closeCode: number): Promise<void> {
    const calls = [...this.#live.values()];
    for (const call of calls) call.end(endedReason, closeCode);
    await Promise.all(calls.map((call) => call.closed));
    await Promise.all([...this.#flushing].map((call) => call.flush(FLUSH_LIMIT_MS)));
  }

  #insert(setup: CallSetup, status: "queued" | "ended"): Readonly<CallRow> {
    const { store, orgId } = this.#parts;
    const now = store.timestamp();
    return store.create({
      id: randomUUID(),
      org_id: orgId,
      simulation_id: setup.simulationId ?? null,
      name: setup.name ?? null,
      status,
      ended_reason: status === "ended" ? OVER_LIMIT : null,
      created_at: now,
      updated_at: now,
      ended_at: status === "ended" ? now : null,
      assistant_id: setup.given.assistantId ?? null,
      assistant: setup.given.assistant ?? null,
      assistant_overrides: setup.given.overrides ?? null,
      audio_format: setup.audio,
      details: setup.details,
    });
  }

  #begin(row: Readonly<CallRow>, setup: CallSetup, headers: Carrier): void {
    const { assistant } = setup;
    const log = this.#parts.log.child({ call: row.id });
    const plan: CallPlan = {
      callId: row.id,
      simulationId: setup.simulationId,
      assistant: callAssistant(assistant, setup.given.assistantId),
      audioFormat: setup.audio,
      oddFrames: this.#parts.oddFrames,
    };
    const storedTools = assistant.model?.toolIds ?? [];
    if (storedTools.length > 0)
      log.warn({ toolIds: storedTools }, "stored tools are not modelled; give model.tools");
    const storedCredentials = assistant.credentialIds ?? [];
    if (storedCredentials.length > 0)
      log.warn({ storedCredentials }, "stored credentials are not modelled; give assistant.credentials");
    const { recognition, synthesis, createBrain } = this.#parts.providers;
    const customLlm = customLlmOf(assistant, () => this.#parts.store.callForModel(row.id, assistant));
    const call = new LiveCall({
      plan,
      assistant,
      store: this.#parts.store,
      recordings: this.#parts.recordings,
      providers: {
        recognition,
        synthesis,
        brain: withEndCallTools(createBrain({ log, customLlm }), endCallTools(assistant)),
      },
      createSession: this.#parts.createSession,
      toolArguments: this.#parts.toolArguments,
      exchanges: this.#parts.exchanges,
      callbackDestination: this.#parts.callbackDestination(),
      spans: new CallSpans(this.#parts.telemetry, plan, headers),
      log,
    });
    this.#live.set(row.id, call);
    this.#timers.set(
      row.id,
      setTimeout(() => {
        if (!call.connected) call.end(NEVER_CONNECTED);
      }, this.#parts.connectTimeoutMs).unref(),
    );
    this.#flushing.add(call);
    void call.closed.then(() => this.#forget(call));
  }

  async #forget(call: LiveCall): Promise<void> {
    clearTimeout(this.#timers.get(call.id));
    this.#timers.delete(call.id);
    this.#live.delete(call.id);
    await call.flush(REPORT_LIMIT_MS);
    this.#flushing.delete(call);
  }
}

function endCallTools(assistant: Assistant): Set<string> {
  const tools = assistant.model?.tools ?? [];
  return new Set(tools.filter((tool) => tool.type === "endCall").map(toolName));
}

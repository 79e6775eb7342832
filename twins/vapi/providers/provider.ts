/**
 * The interfaces of the replaceable parts: recognition, synthesis, brain. Inside the twin all audio is mono PCM16 at
 * `INTERNAL_RATE`; the call socket converts to and from the format that the client negotiated.
 */

import type { Endpoint } from "@offhook/platform/openai/http";

/** Samples per second of everything between the call socket and the providers. */
export const INTERNAL_RATE = 16_000;

/** Default time limit of one provider answer, in wall time. */
export const PROVIDER_TIMEOUT_MS = 30_000;

const WATCHDOG_LEAD_MS = 5_000;

/** Time limit of a server's answer: longer than its watchdog's, whose error says why the server failed. */
export function answerTimeoutMs({ timeoutMs }: Endpoint): number {
  return Math.max(PROVIDER_TIMEOUT_MS, timeoutMs + WATCHDOG_LEAD_MS);
}

/** A failure for which the vendor ends the call. */
export class CallFailure extends Error {
  /** One of the vendor's `endedReason`s. */
  readonly endedReason: string;

  constructor(endedReason: string) {
    super(`the call ends: ${endedReason}`);
    this.name = "CallFailure";
    this.endedReason = endedReason;
  }
}

/** The text of some speech; `null`: nothing was recognised. */
export interface Transcript {
  text: string | null;
}

/** Speech to text. */
export interface Recognition {
  /** Advice for a developer whose callers are not recognised; completes the sentence of a log line. */
  readonly hint?: string;
  /** Time limit of one answer. Default: `PROVIDER_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  /** Transcribes a whole turn (mono, `INTERNAL_RATE`), with silence at either end. */
  transcribe(speech: Int16Array, language: string, signal: AbortSignal): Promise<Transcript>;
  /** Transcribes an unfinished turn; `null` text when it cannot tell yet. */
  partial(speech: Int16Array, language: string, signal: AbortSignal): Promise<Transcript>;
}

/** Text to speech. */
export interface Synthesis {
  /** Time limit of one sentence. Default: `PROVIDER_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  /** Synthesises one sentence as mono PCM16 at `INTERNAL_RATE`. */
  speak(text: string, voice: { provider: string; voiceId: string }, signal: AbortSignal): Promise<Int16Array>;
}

export interface ToolCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

/** The conversation so far, as a model sees it. */
export type ConversationMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string }
  | { role: "assistant"; content: string; toolCalls?: ToolCall[] }
  | {
      role: "tool";
      toolCallId: string;
      name: string;
      /** `null`: no result came back. */
      content: string | null;
    };

export interface ToolDeclaration {
  name: string;
  description: string;
  /** JSON schema. */
  parameters: unknown;
}

/** One step of a reply; text comes in speakable pieces. */
export type BrainStep =
  | { type: "say"; text: string }
  | { type: "call-tools"; calls: ToolCall[] }
  | { type: "end-call" };

export interface BrainRequest {
  /** The call's simulation, if its assistant's metadata names one. */
  simulationId: string | undefined;
  model: { provider: string; model: string; temperature: number; maxTokens: number };
  conversation: readonly ConversationMessage[];
  tools: readonly ToolDeclaration[];
}

/** The language model. */
export interface Brain {
  /** Time limit of one step of a reply. Default: `PROVIDER_TIMEOUT_MS`. */
  readonly stepTimeoutMs?: number;
  /**
   * Streams the reply to the last message. The stream ends after `call-tools`; the session calls again once the
   * conversation has the results.
   * @throws CallFailure when the call must end
   */
  reply(request: BrainRequest, signal: AbortSignal): AsyncIterable<BrainStep>;
}

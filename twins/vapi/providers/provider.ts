/**
 * The replaceable parts of a voice runtime. Inside the twin all audio is mono PCM16 at `INTERNAL_RATE`; the call
 * socket converts to and from what the client negotiated.
 */

import type { Endpoint } from "@offhook/platform/openai/http";

/** Samples per second of everything between the call socket and the providers. */
export const INTERNAL_RATE = 16_000;

/** How long a provider may take for one answer, in wall time, unless it says otherwise. */
export const PROVIDER_TIMEOUT_MS = 30_000;

const WATCHDOG_LEAD_MS = 5_000;

/** How long an answer of a server is waited for: its watchdog is to be the first that loses patience, as it says why. */
export function patienceMs({ timeoutMs }: Endpoint): number {
  return Math.max(PROVIDER_TIMEOUT_MS, timeoutMs + WATCHDOG_LEAD_MS);
}

/** An answer without which the vendor ends the call. */
export class CallFailure extends Error {
  /** Of the vendor's reasons. */
  readonly endedReason: string;

  constructor(endedReason: string) {
    super(`the call cannot go on: ${endedReason}`);
    this.name = "CallFailure";
    this.endedReason = endedReason;
  }
}

/** What was heard in a stretch of speech. `null` text: nothing that could be understood. */
export interface Transcript {
  text: string | null;
}

/** Speech to text. */
export interface Recognition {
  /** What a developer whose callers are not recognised should know of it, as the end of a sentence. */
  readonly hint?: string;
  /** Longest wait for one answer; without it `PROVIDER_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  /** Transcribes a whole turn of speech (mono, `INTERNAL_RATE`), silence at either end included. */
  transcribe(speech: Int16Array, language: string, signal: AbortSignal): Promise<Transcript>;
  /** What seems to have been said so far, for an unfinished turn; `null` text when it cannot tell yet. */
  partial(speech: Int16Array, language: string, signal: AbortSignal): Promise<Transcript>;
}

/** Text to speech. */
export interface Synthesis {
  /** Longest wait for one sentence; without it `PROVIDER_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  /** Speaks one sentence; answers mono PCM16 at `INTERNAL_RATE`. */
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
      name: string /** `null`: no result came back. */;
      content: string | null;
    };

export interface ToolDeclaration {
  name: string;
  description: string;
  /** JSON schema. */
  parameters: unknown;
}

/** One step of a reply. Text comes in speakable pieces, in order. */
export type BrainStep =
  | { type: "say"; text: string }
  | { type: "call-tools"; calls: ToolCall[] }
  | { type: "end-call" };

export interface BrainRequest {
  /** The simulation the call belongs to, when its assistant's metadata names one. */
  simulationId: string | undefined;
  model: { provider: string; model: string; temperature: number; maxTokens: number };
  conversation: readonly ConversationMessage[];
  tools: readonly ToolDeclaration[];
}

/** The language model. */
export interface Brain {
  /** Longest wait for a step of a reply; without it `PROVIDER_TIMEOUT_MS`. */
  readonly stepTimeoutMs?: number;
  /**
   * Streams the reply to the last message. After `call-tools` the stream ends; it is asked again once the results
   * stand in the conversation.
   * @throws CallFailure when the call is to end
   */
  reply(request: BrainRequest, signal: AbortSignal): AsyncIterable<BrainStep>;
}

/**
 * Where the call API and the live call meet. The API validates, stores and answers HTTP; a session is one live call:
 * its media clock, its turns, its socket. The session calls the API side only through `SessionParts`.
 */

import type { Clock } from "@offhook/platform/base/clock";
import type { Logger } from "pino";
import type { WebSocket } from "ws";
import type {
  Brain,
  ConversationMessage,
  Recognition,
  Synthesis,
  ToolCall,
  ToolDeclaration,
} from "../providers/provider.ts";
import type { AudioFormat } from "../schema/call.ts";

/** The members of an assistant that steer a live call, with the vendor's defaults filled in. */
export interface CallAssistant {
  id?: string;
  name?: string;
  firstMessage?: string;
  firstMessageMode:
    | "assistant-speaks-first"
    | "assistant-speaks-first-with-model-generated-message"
    | "assistant-waits-for-user";
  firstMessageInterruptionsEnabled: boolean;
  model: {
    provider: string;
    model: string;
    temperature: number;
    maxTokens: number;
    messages: ConversationMessage[];
    tools: ToolDeclaration[];
  };
  voice: { provider: string; voiceId: string };
  transcriber: { provider: string; model: string; language: string };
  startSpeakingPlan: {
    waitSeconds: number;
    transcriptionEndpointingPlan: {
      onPunctuationSeconds: number;
      onNoPunctuationSeconds: number;
      onNumberSeconds: number;
    };
  };
  stopSpeakingPlan: {
    numWords: number;
    voiceSeconds: number;
    backoffSeconds: number;
    acknowledgementPhrases: string[];
    interruptionPhrases: string[];
  };
  silenceTimeoutSeconds: number;
  maxDurationSeconds: number;
  endCallMessage?: string;
  endCallPhrases: string[];
  /** Message types the client socket receives; all others are kept back. */
  clientMessages: string[];
}

export interface CallPlan {
  callId: string;
  simulationId: string | undefined;
  assistant: CallAssistant;
  audioFormat: AudioFormat;
  /** Some of the audio frames sent end in the middle of a sample, as the vendor's now and then do; otherwise none. */
  oddFrames?: boolean;
}

/** A tool call's outcome; `null` content: no usable result came back, the brain goes on without one. */
export interface ToolOutcome {
  call: ToolCall;
  content: string | null;
}

/** What one finished utterance or tool exchange leaves behind; times are the call's audio time. */
export type SessionRecord =
  | { role: "user" | "assistant"; text: string; startMs: number; endMs: number }
  /** Speech of the caller in which nothing was recognised. */
  | { role: "unrecognised"; startMs: number; endMs: number }
  | { role: "tool_call"; call: ToolCall; startMs: number }
  | { role: "tool_result"; outcome: ToolOutcome; endMs: number };

/** What a session needs from the rest of the twin. */
export interface SessionParts {
  recognition: Recognition;
  synthesis: Synthesis;
  brain: Brain;
  clock: Clock;
  log: Logger;
  /** Runs the tool webhooks of one `call-tools` step; never rejects. */
  runTools(
    calls: ToolCall[],
    conversation: readonly ConversationMessage[],
    signal: AbortSignal,
  ): Promise<ToolOutcome[]>;
  /** Stores what was said and done, as it happens. */
  record(entry: SessionRecord): void;
  /** Every message of the runtime, whether or not the client's `clientMessages` lets it through (server messages). */
  publish(message: { type: string } & Record<string, unknown>): void;
  /** The call's status changed. */
  status(status: "in-progress" | "ended", endedReason?: string): void;
}

/** Commands a client sends on the socket, or posts to the control URL, after validation. */
export type SessionCommand =
  | { type: "end-call" }
  | { type: "hangup" }
  | {
      type: "say";
      content: string;
      endCallAfterSpoken: boolean;
      interruptAssistantEnabled: boolean;
      interruptionsEnabled: boolean;
    }
  | { type: "add-message"; message: ConversationMessage; triggerResponseEnabled: boolean }
  | {
      type: "control";
      control:
        | "mute-assistant"
        | "unmute-assistant"
        | "mute-customer"
        | "unmute-customer"
        | "say-first-message";
    };

/** Latencies of one turn in milliseconds, as the vendor's `performanceMetrics` names them. */
export interface TurnLatency {
  /** Wall time from asking the model to its first sentence, tools included. */
  modelLatency: number;
  /** Wall time from the first sentence to its audio. */
  voiceLatency: number;
  /** Wall time of the last transcription. */
  transcriberLatency: number;
  /** Media time from the end of speech to the decision that the turn is over. */
  endpointingLatency: number;
  /** Caller's audio received between the end of their speech and the first of the answer. */
  turnLatency: number;
}

/** What is known of a call once it is over. */
export interface EndedCall {
  endedReason: string;
  durationMs: number;
  turnLatencies: TurnLatency[];
  userInterruptions: number;
}

/** One live call. */
export interface CallSession {
  /** Attaches the client's socket; the greeting starts at once. A second socket for the same call is refused by the API side. */
  connect(socket: WebSocket): void;
  command(command: SessionCommand): void;
  /** Ends the call from the runtime's side: the last messages are sent, then the socket closes. */
  end(endedReason: string, closeCode?: number): void;
  readonly ended: Promise<EndedCall>;
}

/** Makes the session of a created call; nothing runs until `connect`. */
export type CreateSession = (plan: CallPlan, parts: SessionParts) => CallSession;

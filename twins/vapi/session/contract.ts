/**
 * The interface between the call API and a live call. The API validates, stores and answers HTTP; a session is one live
 * call: its media clock, its turns, its socket. A session reaches the API side only through `SessionParts`.
 */

import type { Clock } from "@offhook/platform/base/clock";
import type { Context } from "@opentelemetry/api";
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
  /** Message types the client socket receives. */
  clientMessages: string[];
}

export interface CallPlan {
  callId: string;
  simulationId: string | undefined;
  assistant: CallAssistant;
  audioFormat: AudioFormat;
  /** Whether some audio frames end in the middle of a sample, as some of the vendor's do. */
  oddFrames?: boolean;
}

/** A tool call's outcome; `null` content: no usable result came back, and the brain continues without one. */
export interface ToolOutcome {
  call: ToolCall;
  content: string | null;
}

/** The record of one finished utterance or tool exchange, in media time. */
export type SessionRecord =
  | { role: "user"; text: string; startMs: number; endMs: number }
  | {
      role: "assistant";
      text: string;
      startMs: number;
      endMs: number;
      /** The caller cut it short. */
      interrupted?: boolean;
    }
  /** Caller speech in which nothing was recognised. */
  | { role: "unrecognised"; startMs: number; endMs: number }
  | { role: "tool_call"; call: ToolCall; startMs: number }
  | { role: "tool_result"; outcome: ToolOutcome; endMs: number };

/** Takes both sides of a call as they pass the client's socket, at the client's rate. Nothing in it may wait. */
export interface AudioTap {
  /** The next audio from the client, as it was sent. */
  receive(samples: Int16Array): void;
  /** Silence that the media clock puts where the client sends nothing, in samples of the internal rate. */
  fill(internalSamples: number): void;
  /** Waiting audio that the media clock drops, oldest first, in samples of the internal rate. */
  drop(internalSamples: number): void;
  /** Audio that was sent to the client, of which the last sample was played at `endMs` of media time. */
  play(samples: Int16Array, endMs: number): void;
  /** The call advanced by 10 ms. */
  tick(): void;
  end(): void;
}

/** When the steps of an answer were, in wall time, and how long they took. */
export interface AnswerTimes {
  /** The caller's turn was decided to be over. */
  closedAt: number;
  /** The model was asked. */
  askedAt: number;
  transcriberMs: number;
  modelMs: number;
  voiceMs: number;
  /** From the end of speech to the decision that the turn is over, in media time. */
  endpointingMediaMs: number;
}

/** One answer, from the caller's last word on. Only the first call of a method counts. */
export interface AnswerTrace {
  /** What the answer's requests continue. */
  context: Context;
  /** Its audio begins. */
  answered(times: AnswerTimes): void;
  /** It was never heard, or answers no turn. */
  abandoned(): void;
}

/** What a session tells of its times, for the spans of the call. */
export interface CallTrace {
  /** The caller stopped speaking, perhaps for a moment only. */
  callerPaused(): void;
  /** An answer is begun. */
  beginAnswer(): AnswerTrace;
}

/** What a session needs from the twin. */
export interface SessionParts {
  recognition: Recognition;
  synthesis: Synthesis;
  brain: Brain;
  clock: Clock;
  log: Logger;
  /** Absent: nobody times the call. */
  trace?: CallTrace;
  /** Absent: nobody records or hears the call. */
  audio?: AudioTap;
  /** Runs the tool webhooks of one `call-tools` step; never rejects. */
  runTools(
    calls: ToolCall[],
    conversation: readonly ConversationMessage[],
    signal: AbortSignal,
    /** What the webhooks continue. */
    context?: Context,
  ): Promise<ToolOutcome[]>;
  /** Stores a record as soon as it is final. @param latency of an answer to the caller's turn; partly wall time */
  record(entry: SessionRecord, latency?: TurnLatency): void;
  /** Publishes a message to the server, whether or not the client's `clientMessages` includes it. */
  publish(message: { type: string } & Record<string, unknown>): void;
  /** Stores a change of the call's status. */
  status(status: "in-progress" | "ended", endedReason?: string): void;
}

/** Validated commands that a client sends on the socket or posts to the control URL. */
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

/** Outcome of a call. */
export interface EndedCall {
  endedReason: string;
  durationMs: number;
  turnLatencies: TurnLatency[];
  userInterruptions: number;
}

/** One live call. */
export interface CallSession {
  /** Attaches the client's socket; the greeting starts at once. The API side refuses a second socket. */
  connect(socket: WebSocket): void;
  command(command: SessionCommand): void;
  /** Ends the call from the runtime's side: sends the last messages, then closes the socket. */
  end(endedReason: string, closeCode?: number): void;
  readonly ended: Promise<EndedCall>;
}

/** Makes the session of a created call; nothing runs until `connect`. */
export type CreateSession = (plan: CallPlan, parts: SessionParts) => CallSession;

/** The report of a call: its outcome, its turns, its limits. */
import type { Telemetry } from "@offhook/platform/telemetry/telemetry";
import type { Framing } from "./line.ts";
import type { PacingReport } from "./pacer.ts";
import type { CallerPlan } from "./steps.ts";

/**
 * `completed`: one side hung up after something was heard. `callee_no_answer`: nothing was ever heard.
 * `stalled`: the callee's turn never ended, because it sent no silence after it. `protocol_violation`: it broke the
 * framing. `timeout`: the call reached its longest duration.
 */
export const OUTCOMES = [
  "completed",
  "callee_no_answer",
  "stalled",
  "protocol_violation",
  "timeout",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A turn of either side. Milliseconds of the caller's clock; `endMs` is after the last audible sample. */
export type CallTurn =
  | { speaker: "caller"; sample: string; text: string; startMs: number; endMs: number; cutOff: boolean }
  | {
      speaker: "callee";
      startMs: number;
      endMs: number;
      /** From the caller's last audible sample to the first one heard; `null` when it answers nothing. */
      responseMs: number | null;
      /** The caller spoke into it on purpose. */
      interrupted: boolean;
    };

export type CallEvent =
  | { type: "answered"; setupMs: number }
  | { type: "caller-speaks"; text: string; atMs: number; interrupting: boolean }
  | { type: "caller-spoke"; turn: Extract<CallTurn, { speaker: "caller" }> }
  | { type: "callee-speaks"; atMs: number; responseMs: number | null }
  | { type: "callee-spoke"; turn: Extract<CallTurn, { speaker: "callee" }> };

export interface CallReport {
  outcome: Outcome;
  endedBy: "caller" | "callee";
  /** Why it ended so, in words. */
  reason: string;
  /** How the line was closed; absent when it never opened. */
  closeCode?: number;
  closeReason?: string;
  /** Audio sent, in milliseconds: how long the call took on the caller's clock. */
  durationMs: number;
  /** Wall-clock time from dialling to the first audio of the callee; `null` when none came. */
  setupMs: number | null;
  turns: CallTurn[];
  /** Steps the caller never reached, in words. */
  undone: string[];
  /** Utterances meant to interrupt a callee's turn that had already ended. */
  missedInterruptions: string[];
  /** An odd number of bytes came: the callee's audio ended in the middle of a sample. */
  endedInsideSample: boolean;
  pacing: PacingReport;
  /** The trace that the call began; absent when it is not traced. */
  traceId?: string;
}

export interface CallLimits {
  /** Maximum audio time, sent and received. */
  durationMs: number;
  /** Audio time without any audio of the callee, in the middle of its turn, after which it counts as stalled. */
  stallMs: number;
  /** The same in wall time; both must pass, because the callee computes no faster in a fast call. */
  stallWallMs: number;
  connectTimeoutMs: number;
  /** Wall time that a caller who lets the callee begin waits for the first audio. */
  answerTimeoutMs: number;
  /** Back-pressure: above this much unsent audio, frames wait. */
  waitingBytes: number;
  /** Maximum time without the network accepting any audio. */
  blockedTimeoutMs: number;
}

export const CALL_LIMITS: Readonly<CallLimits> = {
  durationMs: 600_000,
  // Longer than the runtime's longest tool call, during which it may be quiet.
  stallMs: 25_000,
  stallWallMs: 3_000,
  connectTimeoutMs: 10_000,
  answerTimeoutMs: 60_000,
  waitingBytes: 1024 * 1024,
  blockedTimeoutMs: 10_000,
};

/** Observes the timing of single frames, for whoever measures many calls at once. */
interface FrameObserver {
  /** A frame left this late against the wall clock; lost audio is reported as one frame. */
  onSent(latenessMs: number): void;
  /** A piece of the callee's speech arrived this late against a playback that began with the first piece of it. */
  onHeard(latenessMs: number): void;
}

export interface CallOptions {
  /** Address of the agent's voice channel, `ws://host:port/voice`. */
  url: string;
  framing: Framing;
  headers?: Record<string, string>;
  plan: CallerPlan;
  /** How many times faster than real time; default 1. */
  speed?: number;
  limits?: Partial<CallLimits>;
  /** File for a stereo WAV of the call: caller left, callee right. */
  recordingFile?: string;
  onEvent?(event: CallEvent): void;
  frames?: FrameObserver;
  /** The scenario that is played, and where its trace goes; default: nowhere. */
  traced?: { scenario: string; telemetry: Telemetry | undefined };
  /** The caller hangs up when it is aborted. */
  signal?: AbortSignal;
}

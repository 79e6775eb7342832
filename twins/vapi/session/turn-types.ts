/** The vocabulary of turn-taking: what happens on a call (`TurnEvent`), and what to do about it (`TurnEffect`). */
import type { CallAssistant } from "./contract.ts";
import type { Role } from "./messages.ts";

/** One thing for the assistant to say. At most one job is prepared or spoken at a time. */
export type Job = ReplyJob | LineJob;

/** An answer to the user: the model's, or the first message of an assistant that waits for the user. */
export interface ReplyJob {
  type: "reply";
  id: number;
  turn: number;
  interruptible: boolean;
  /** Spoken instead of a model reply. */
  text: string | undefined;
  /** The user turn it answers, if any. */
  answers: UserTurn | undefined;
  /** Its audio starts no earlier than this. */
  notBeforeMs: number;
}

/** A fixed text. */
export interface LineJob {
  type: "line";
  id: number;
  turn: number;
  interruptible: boolean;
  source: LineSource;
  text: string;
  /** Why the call ends once the line has been spoken; `undefined`: the call continues. */
  endsCall: string | undefined;
}

/** Whether the model writes the job's text. */
export function asksModel(job: Job): boolean {
  return job.type === "reply" && job.text === undefined;
}

type LineSource = "first-message" | "force-say" | "end-call-message";

/** Close code of a call socket whose call has ended. */
export const NORMAL_CLOSURE = 1000;

/** A turn of the user, pauses included; in media time. */
export interface UserTurn {
  turn: number;
  startMs: number;
  /** End of its last speech. */
  endMs: number;
}

export type TurnEvent =
  /** The socket is open, so the first message is due. */
  | { type: "opened" }
  /** 10 ms of media passed. `playing`: assistant audio went out in it. */
  | { type: "tick"; nowMs: number; playing: boolean }
  /** The speech detector's edges; `atMs` lies in the past. */
  | { type: "speech-started"; atMs: number }
  | { type: "speech-ended"; atMs: number }
  /** Result of `transcribe`; `null`: nothing recognised. */
  | { type: "transcribed"; request: number; text: string | null }
  /** Result of `transcribe-partial`. */
  | { type: "partial-transcribed"; turn: number; text: string | null }
  /** The job can start: its first audio is ready, or synthesis failed for all of its words. */
  | { type: "job-ready"; job: number }
  /** The job's tools started, or finished. */
  | { type: "job-tools"; job: number; running: boolean }
  /** The job has been played to its end, or had nothing to say. */
  | { type: "job-done"; job: number; saidEndCallPhrase: boolean; wantsEnd: boolean }
  | {
      type: "say";
      text: string;
      interruptible: boolean;
      cutsIn: boolean;
      endsCall: boolean;
    }
  /** A client asks for the first message now. */
  | { type: "say-first-message" }
  /** A client added a message that the model must answer. */
  | { type: "reply-wanted" }
  | { type: "end"; reason: string; closeCode: number };

export type TurnEffect =
  | { type: "speech-update"; status: "started" | "stopped"; role: Role; turn: number }
  | { type: "user-interrupted"; job: Job }
  /** Collect the user's speech from `fromMs` on. */
  | { type: "open-turn"; turn: number; fromMs: number }
  /** Transcribe the turn up to now. */
  | { type: "transcribe"; turn: number; request: number }
  | { type: "transcribe-partial"; turn: number }
  | { type: "user-partial"; text: string }
  /** The turn is over. `reopened`: it had been closed before, and this transcript replaces the earlier one. */
  | { type: "close-turn"; said: UserTurn; text: string | null; reopened: boolean; closedMs: number }
  /** Prepare the job's audio; play nothing yet. */
  | { type: "prepare"; job: Job }
  /** Forget the job; none of it was audible. */
  | { type: "abandon"; job: Job }
  | { type: "start-audio"; job: Job }
  /** Hold the audio: the user speaks while the job waits for its tools. */
  | { type: "pause-audio"; job: Job }
  | { type: "resume-audio"; job: Job }
  /** Stop at once; the rest is never played. */
  | { type: "cut-audio"; job: Job }
  | { type: "assistant-partial"; job: Job }
  | { type: "assistant-final"; job: Job }
  /** The queue of lines is full. */
  | { type: "refuse-line"; text: string }
  | { type: "end-call"; reason: string; closeCode: number };

/** The members of an assistant that decide its turns. */
export type TurnPlan = Pick<
  CallAssistant,
  | "firstMessage"
  | "firstMessageMode"
  | "firstMessageInterruptionsEnabled"
  | "startSpeakingPlan"
  | "stopSpeakingPlan"
  | "silenceTimeoutSeconds"
  | "maxDurationSeconds"
  | "endCallMessage"
>;

/** The vocabulary of turn-taking: what happens on a call (`TurnEvent`) and what is to be done about it (`TurnEffect`). */
import type { CallAssistant } from "./contract.ts";
import type { Role } from "./messages.ts";

/** One thing the assistant is to say. At most one is being prepared or spoken at any time. */
export type Job = ReplyJob | LineJob;

/** An answer to the user: the model's, or the first message of an assistant that waits for the user. */
export interface ReplyJob {
  type: "reply";
  id: number;
  turn: number;
  interruptible: boolean;
  /** What is said in the model's place. */
  text: string | undefined;
  /** The user's turn it answers, when it answers one. */
  answers: UserTurn | undefined;
  /** The assistant is not heard before this. */
  notBeforeMs: number;
}

/** A given text. */
export interface LineJob {
  type: "line";
  id: number;
  turn: number;
  interruptible: boolean;
  source: LineSource;
  text: string;
  /** Set: once it is spoken to its end, the call is over for this reason. */
  endsCall: string | undefined;
}

/** Whether the model finds the words of the job. */
export function asksModel(job: Job): boolean {
  return job.type === "reply" && job.text === undefined;
}

export type LineSource = "first-message" | "force-say" | "end-call-message";

/** Close code of a call socket whose call has ended. */
export const NORMAL_CLOSURE = 1000;

/** A stretch of the user's speech, pauses included; media time. */
export interface UserTurn {
  turn: number;
  startMs: number;
  /** End of its last speech. */
  endMs: number;
}

export type TurnEvent =
  /** The socket is open: the first message is due. */
  | { type: "opened" }
  /** 10 ms of media passed. `playing`: some of the assistant's voice went out in it. */
  | { type: "tick"; nowMs: number; playing: boolean }
  /** The detector's edges; they tell of the past. */
  | { type: "speech-started"; atMs: number }
  | { type: "speech-ended"; atMs: number }
  /** Answer to `hear`; `null`: nothing understood. */
  | { type: "heard"; request: number; text: string | null }
  /** Answer to `hear-so-far`. */
  | { type: "heard-so-far"; turn: number; text: string | null }
  /** The job could be heard now: its first audio is there, or none of its words could be spoken. */
  | { type: "job-ready"; job: number }
  /** The job's tools began to run, or came back. */
  | { type: "job-tools"; job: number; running: boolean }
  /** All of the job is played, or it had nothing to say. */
  | { type: "job-done"; job: number; saidEndCallPhrase: boolean; wantsEnd: boolean }
  | {
      type: "say";
      text: string;
      interruptible: boolean;
      cutsIn: boolean;
      endsCall: boolean;
    }
  /** A client wants to hear the first message now. */
  | { type: "say-first-message" }
  /** Somebody added a message the model is to answer. */
  | { type: "reply-wanted" }
  | { type: "end"; reason: string; closeCode: number };

export type TurnEffect =
  | { type: "speech-update"; status: "started" | "stopped"; role: Role; turn: number }
  | { type: "user-interrupted"; job: Job }
  /** Collect the user's speech from here on. */
  | { type: "open-turn"; turn: number; fromMs: number }
  /** Transcribe the turn as far as it goes. */
  | { type: "hear"; turn: number; request: number }
  | { type: "hear-so-far"; turn: number }
  | { type: "user-partial"; text: string }
  /** The turn is over. `again`: it was over once already and has been heard anew. */
  | { type: "close-turn"; said: UserTurn; text: string | null; again: boolean; closedMs: number }
  /** Get the job's audio ready; nothing is played yet. */
  | { type: "prepare"; job: Job }
  /** Forget the job; nothing of it was heard. */
  | { type: "abandon"; job: Job }
  | { type: "start-audio"; job: Job }
  /** The user speaks while the job waits for its tools. */
  | { type: "pause-audio"; job: Job }
  | { type: "resume-audio"; job: Job }
  /** Silence at once; the rest is never said. */
  | { type: "cut-audio"; job: Job }
  | { type: "assistant-partial"; job: Job }
  | { type: "assistant-final"; job: Job }
  /** Too much waits to be said already. */
  | { type: "refuse-line"; text: string }
  | { type: "end-call"; reason: string; closeCode: number };

/** What of an assistant decides its turns. */
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

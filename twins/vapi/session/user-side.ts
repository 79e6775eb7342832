/** The user's half of turn-taking: speech, pauses, and endpointing (when a pause ends the turn). */
import { type EndpointingPlan, endpointDelayMs } from "./endpointing.ts";
import type { TurnEffect, UserTurn } from "./turn-types.ts";

/** Delay of `speech-update` after speech starts and after it stops, as measured on the vendor's calls. */
const ANNOUNCE_START_MS = 380;
const ANNOUNCE_STOP_MS = 700;
/** Cadence of partial transcripts; shorter while barge-in depends on words. */
export const PARTIAL_MS = 480;
export const BARGE_IN_PARTIAL_MS = 240;
/** Speech this long without a pause is treated as if it had paused. */
const MAX_SPEECH_MS = 60_000;

type UserState =
  | { type: "quiet" }
  | { type: "speaking"; run: OpenTurn; sinceMs: number; partialMs: number }
  | {
      type: "paused";
      run: OpenTurn;
      endMs: number;
      request: number;
      transcript: { text: string | null } | undefined;
    };

/** A turn in progress. */
interface OpenTurn {
  turn: number;
  startMs: number;
  /** It was closed once, and the user went on speaking. */
  reopened: boolean;
  /** It began while the assistant was audible, and has not interrupted it. */
  overlapsAssistant: boolean;
}

interface SpeechOnset {
  turn: number;
  atMs: number;
  overlapsAssistant: boolean;
}

export interface ClosedTurn {
  said: UserTurn;
  text: string | null;
  reopened: boolean;
  overlapsAssistant: boolean;
}

export class UserSide {
  readonly #plan: EndpointingPlan;
  readonly #emit: (effect: TurnEffect) => void;
  #state: UserState = { type: "quiet" };
  #requests = 0;
  /** The turn whose start was announced and whose stop was not. */
  #announced: number | undefined;
  #stopDueMs: number | undefined;
  #partial = "";

  constructor(plan: EndpointingPlan, emit: (effect: TurnEffect) => void) {
    this.#plan = plan;
    this.#emit = emit;
  }

  /** Neither speaking nor in a pause that may end. */
  get quiet(): boolean {
    return this.#state.type === "quiet";
  }

  get speakingSinceMs(): number | undefined {
    return this.#state.type === "speaking" ? this.#state.sinceMs : undefined;
  }

  get overlapsAssistant(): boolean {
    return this.#state.type !== "quiet" && this.#state.run.overlapsAssistant;
  }

  /** Emits a partial transcript that differs from the last one. @returns whether the turn is still being spoken */
  takePartial(turn: number, text: string): boolean {
    if (this.#state.type !== "speaking" || this.#state.run.turn !== turn) return false;
    if (text !== this.#partial) this.#emit({ type: "user-partial", text });
    this.#partial = text;
    return true;
  }

  /** Starts the turn `turn`, or resumes the one that paused. */
  speak({ turn, atMs, overlapsAssistant }: SpeechOnset): void {
    if (this.#state.type === "speaking") return;
    if (this.#state.type === "paused") {
      this.#stopDueMs = undefined;
      this.#state = { type: "speaking", run: this.#state.run, sinceMs: atMs, partialMs: atMs };
      return;
    }
    this.#announceStopNow();
    this.#partial = "";
    this.#emit({ type: "open-turn", turn, fromMs: atMs });
    const run = { turn, startMs: atMs, reopened: false, overlapsAssistant };
    this.#state = { type: "speaking", run, sinceMs: atMs, partialMs: atMs };
  }

  /** Continues a turn that was closed. */
  reopen({ turn, startMs }: UserTurn, atMs: number): void {
    this.#stopDueMs = undefined;
    const run = { turn, startMs, reopened: true, overlapsAssistant: false };
    this.#state = { type: "speaking", run, sinceMs: atMs, partialMs: atMs };
  }

  pause(atMs: number): void {
    if (this.#state.type !== "speaking") return;
    const { run } = this.#state;
    this.#announceStart(run.turn);
    this.#stopDueMs = atMs + ANNOUNCE_STOP_MS;
    const request = ++this.#requests;
    this.#state = { type: "paused", run, endMs: atMs, request, transcript: undefined };
    this.#emit({ type: "transcribe", turn: run.turn, request });
  }

  /** @returns false when the transcript is stale: the user has spoken since it was requested */
  takeTranscript(request: number, text: string | null): boolean {
    if (this.#state.type !== "paused" || this.#state.request !== request) return false;
    this.#state.transcript = { text };
    return true;
  }

  noteInterruption(): void {
    if (this.#state.type === "quiet") return;
    this.#state.run.overlapsAssistant = false;
    this.#announceStart(this.#state.run.turn);
  }

  tick(nowMs: number, partialEveryMs: number): void {
    if (this.#state.type !== "speaking") return;
    const { run, sinceMs, partialMs } = this.#state;
    if (nowMs - sinceMs >= ANNOUNCE_START_MS) this.#announceStart(run.turn);
    if (nowMs - sinceMs >= MAX_SPEECH_MS) {
      this.pause(nowMs);
      return;
    }
    if (nowMs - partialMs >= partialEveryMs) {
      this.#state.partialMs = nowMs;
      this.#emit({ type: "transcribe-partial", turn: run.turn });
    }
  }

  /** Closes the turn once its pause has lasted as long as the endpointing plan asks for its transcript. */
  closeIfOver(nowMs: number): ClosedTurn | undefined {
    if (this.#state.type !== "paused" || this.#state.transcript === undefined) return undefined;
    const { endMs, transcript } = this.#state;
    if (nowMs < endMs + endpointDelayMs(transcript.text, this.#plan)) return undefined;
    return this.#close(nowMs, transcript.text);
  }

  announceStop(nowMs: number): void {
    if (this.#stopDueMs !== undefined && nowMs >= this.#stopDueMs) this.#announceStopNow();
  }

  /** Ends with the call: closes a turn that has a transcript, and announces the stop of one that was announced. */
  finish(nowMs: number): void {
    if (this.#state.type === "paused" && this.#state.transcript)
      this.#close(nowMs, this.#state.transcript.text);
    this.#state = { type: "quiet" };
    this.#announceStopNow();
  }

  #close(nowMs: number, text: string | null): ClosedTurn | undefined {
    if (this.#state.type !== "paused") return undefined;
    const { run, endMs } = this.#state;
    const said = { turn: run.turn, startMs: run.startMs, endMs };
    this.#state = { type: "quiet" };
    this.#emit({ type: "close-turn", said, text, reopened: run.reopened, closedMs: nowMs });
    return { said, text, reopened: run.reopened, overlapsAssistant: run.overlapsAssistant };
  }

  #announceStart(turn: number): void {
    if (this.#announced === turn) return;
    this.#announceStopNow();
    this.#announced = turn;
    this.#emit({ type: "speech-update", status: "started", role: "user", turn });
  }

  #announceStopNow(): void {
    this.#stopDueMs = undefined;
    if (this.#announced === undefined) return;
    this.#emit({ type: "speech-update", status: "stopped", role: "user", turn: this.#announced });
    this.#announced = undefined;
  }
}

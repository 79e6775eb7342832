/** The user's half of turn-taking: speaking, pausing, and the moment a pause becomes the end of a turn. */
import { type EndpointingPlan, endpointDelayMs } from "./endpointing.ts";
import type { TurnEffect, UserTurn } from "./turn-types.ts";

/** How long after its onset, and after its end, speech is announced; as measured on the vendor's calls. */
const ANNOUNCE_START_MS = 380;
const ANNOUNCE_STOP_MS = 700;
/** Cadence of partial transcripts; closer when words decide whether the assistant is interrupted. */
const PARTIAL_MS = 480;
const BARGE_IN_PARTIAL_MS = 240;
/** Speech without any pause for so long is treated as if it had paused. */
const LONGEST_SPEECH_MS = 60_000;

type UserState =
  | { type: "quiet" }
  | { type: "speaking"; run: Run; sinceMs: number; partialMs: number }
  | { type: "paused"; run: Run; endMs: number; request: number; heard: { text: string | null } | undefined };

/** One turn under way. */
interface Run {
  turn: number;
  startMs: number;
  /** It was closed once and then went on. */
  again: boolean;
  /** It began while the assistant was heard, and has not interrupted it. */
  overAssistant: boolean;
}

export interface ClosedTurn {
  said: UserTurn;
  text: string | null;
  again: boolean;
  overAssistant: boolean;
}

export class UserSide {
  readonly #plan: EndpointingPlan;
  readonly #emit: (effect: TurnEffect) => void;
  #state: UserState = { type: "quiet" };
  #requests = 0;
  /** The turn announced as started and not yet as stopped. */
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

  get overAssistant(): boolean {
    return this.#state.type !== "quiet" && this.#state.run.overAssistant;
  }

  /** Tells what the turn seems to say so far, when it is still spoken and that is news. Answers whether it is spoken. */
  heardSoFar(turn: number, text: string): boolean {
    if (this.#state.type !== "speaking" || this.#state.run.turn !== turn) return false;
    if (text !== this.#partial) this.#emit({ type: "user-partial", text });
    this.#partial = text;
    return true;
  }

  /** Speech begins: the turn `turn`, or the rest of the one that paused. */
  speak(turn: number, atMs: number, overAssistant: boolean): void {
    if (this.#state.type === "speaking") return;
    if (this.#state.type === "paused") {
      this.#stopDueMs = undefined;
      this.#state = { type: "speaking", run: this.#state.run, sinceMs: atMs, partialMs: atMs };
      return;
    }
    this.#announceStopNow();
    this.#partial = "";
    this.#emit({ type: "open-turn", turn, fromMs: atMs });
    const run = { turn, startMs: atMs, again: false, overAssistant };
    this.#state = { type: "speaking", run, sinceMs: atMs, partialMs: atMs };
  }

  /** A turn that had been closed goes on. */
  reopen({ turn, startMs }: UserTurn, atMs: number): void {
    this.#stopDueMs = undefined;
    const run = { turn, startMs, again: true, overAssistant: false };
    this.#state = { type: "speaking", run, sinceMs: atMs, partialMs: atMs };
  }

  pause(atMs: number): void {
    if (this.#state.type !== "speaking") return;
    const { run } = this.#state;
    this.#announceStart(run.turn);
    this.#stopDueMs = atMs + ANNOUNCE_STOP_MS;
    const request = ++this.#requests;
    this.#state = { type: "paused", run, endMs: atMs, request, heard: undefined };
    this.#emit({ type: "hear", turn: run.turn, request });
  }

  /** Whether the answer was still wanted. */
  heard(request: number, text: string | null): boolean {
    if (this.#state.type !== "paused" || this.#state.request !== request) return false;
    this.#state.heard = { text };
    return true;
  }

  hasInterrupted(): void {
    if (this.#state.type === "quiet") return;
    this.#state.run.overAssistant = false;
    this.#announceStart(this.#state.run.turn);
  }

  tick(nowMs: number, listensForWords: boolean): void {
    if (this.#state.type !== "speaking") return;
    const { run, sinceMs, partialMs } = this.#state;
    if (nowMs - sinceMs >= ANNOUNCE_START_MS) this.#announceStart(run.turn);
    if (nowMs - sinceMs >= LONGEST_SPEECH_MS) {
      this.pause(nowMs);
      return;
    }
    if (nowMs - partialMs >= (listensForWords ? BARGE_IN_PARTIAL_MS : PARTIAL_MS)) {
      this.#state.partialMs = nowMs;
      this.#emit({ type: "hear-so-far", turn: run.turn });
    }
  }

  /** Closes the turn when its pause has lasted long enough for what was heard. */
  closeIfOver(nowMs: number): ClosedTurn | undefined {
    if (this.#state.type !== "paused" || this.#state.heard === undefined) return undefined;
    const { endMs, heard } = this.#state;
    if (nowMs < endMs + endpointDelayMs(heard.text, this.#plan)) return undefined;
    return this.#close(nowMs, heard.text);
  }

  announceStop(nowMs: number): void {
    if (this.#stopDueMs !== undefined && nowMs >= this.#stopDueMs) this.#announceStopNow();
  }

  /** The call is over: what is known is told, what was announced is taken back. */
  finish(nowMs: number): void {
    if (this.#state.type === "paused" && this.#state.heard) this.#close(nowMs, this.#state.heard.text);
    this.#state = { type: "quiet" };
    this.#announceStopNow();
  }

  #close(nowMs: number, text: string | null): ClosedTurn | undefined {
    if (this.#state.type !== "paused") return undefined;
    const { run, endMs } = this.#state;
    const said = { turn: run.turn, startMs: run.startMs, endMs };
    this.#state = { type: "quiet" };
    this.#emit({ type: "close-turn", said, text, again: run.again, closedMs: nowMs });
    return { said, text, again: run.again, overAssistant: run.overAssistant };
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

/** The assistant's half of turn-taking: what to say, one job at a time, and when its audio may start. */
import type { Job, LineJob, ReplyJob, TurnEffect, UserTurn } from "./turn-types.ts";

/** Cadence of the assistant's partial transcripts, and delay of the final one after the last audio. */
const PARTIAL_MS = 480;
const FINAL_MS = 160;
/** Maximum queued jobs; further lines are refused. */
const MAX_QUEUED = 32;

type AssistantState =
  | { type: "idle" }
  | { type: "preparing"; job: Job; ready: boolean; toolsCalled: boolean; toolsRunning: boolean }
  | {
      type: "speaking";
      job: Job;
      sinceMs: number;
      partialMs: number;
      toolsRunning: boolean;
      /** The user spoke while a tool ran: the rest waits until they stop. */
      paused: boolean;
    };

type QueuedJob = Omit<LineJob, "turn"> | Omit<ReplyJob, "turn">;

export type NewLine = Omit<LineJob, "type" | "id" | "turn">;
export type NewReply = Omit<ReplyJob, "type" | "id" | "turn">;

export class AssistantSide {
  readonly #emit: (effect: TurnEffect) => void;
  /** The turn of jobs that answer no user turn. */
  readonly #currentTurn: () => number;
  #state: AssistantState = { type: "idle" };
  #queue: QueuedJob[] = [];
  #jobs = 0;
  #backoffUntilMs = 0;
  /** Assistant audio went out in the last tick. */
  #playing = false;
  #pendingFinal: { job: Job; atMs: number } | undefined;

  constructor(emit: (effect: TurnEffect) => void, currentTurn: () => number) {
    this.#emit = emit;
    this.#currentTurn = currentTurn;
  }

  get idle(): boolean {
    return this.#state.type === "idle";
  }

  /** Whether it can be heard; false while it only holds the floor for its tools. */
  get audible(): boolean {
    return (
      this.#state.type === "speaking" && !this.#state.paused && (this.#playing || !this.#state.toolsRunning)
    );
  }

  get interruptible(): boolean {
    return this.audible && this.#state.type === "speaking" && this.#state.job.interruptible;
  }

  get speakingSinceMs(): number {
    return this.#state.type === "speaking" ? this.#state.sinceMs : 0;
  }

  /** The user turn whose reply can still be withdrawn: it is in preparation and has called no tool. */
  revocableReply(): UserTurn | undefined {
    if (this.#state.type !== "preparing" || this.#state.toolsCalled) return undefined;
    return this.#state.job.type === "reply" ? this.#state.job.answers : undefined;
  }

  enqueueLine(line: NewLine): void {
    if (this.#queue.length >= MAX_QUEUED) this.#emit({ type: "refuse-line", text: line.text });
    else this.#queue.push({ type: "line", id: ++this.#jobs, ...line });
    this.prepareNext();
  }

  /** Speaks the line now: cuts the audible job, and requeues one in preparation behind it. */
  interruptWith(line: NewLine): void {
    if (this.#queue.length >= MAX_QUEUED) {
      this.#emit({ type: "refuse-line", text: line.text });
      return;
    }
    this.#yieldFloor();
    this.#queue.unshift({ type: "line", id: ++this.#jobs, ...line });
    this.prepareNext();
  }

  /** Replaces a queued reply, and one in preparation that has called no tool: one reply answers everything since the last. */
  enqueueReply(reply: NewReply): void {
    this.#queue = this.#queue.filter((job) => job.type !== "reply");
    if (this.#state.type === "preparing" && this.#state.job.type === "reply" && !this.#state.toolsCalled)
      this.abandon();
    this.#queue.push({ type: "reply", id: ++this.#jobs, ...reply });
    this.prepareNext();
  }

  clearQueue(): void {
    this.#queue = [];
  }

  prepareNext(): void {
    if (this.#state.type !== "idle") return;
    const next = this.#queue.shift();
    if (next === undefined) return;
    const answered = next.type === "reply" ? next.answers : undefined;
    const job = { ...next, turn: answered?.turn ?? this.#currentTurn() };
    this.#state = { type: "preparing", job, ready: false, toolsCalled: false, toolsRunning: false };
    this.#emit({ type: "prepare", job });
  }

  ready(id: number): void {
    if (this.#state.type === "preparing" && this.#state.job.id === id) this.#state.ready = true;
  }

  beginTools(id: number): void {
    if (this.#state.type === "idle" || this.#state.job.id !== id) return;
    this.#state.toolsRunning = true;
    if (this.#state.type === "preparing") this.#state.toolsCalled = true;
  }

  endTools(id: number): void {
    if (this.#state.type !== "idle" && this.#state.job.id === id) this.#state.toolsRunning = false;
  }

  /** Drops the job in preparation. */
  abandon(): void {
    if (this.#state.type !== "preparing") return;
    const { job } = this.#state;
    this.#state = { type: "idle" };
    this.#emit({ type: "abandon", job });
  }

  /** Holds the rest of a job whose tools run, because the user starts to speak. */
  pauseForUser(): void {
    if (this.#state.type !== "speaking" || !this.#state.toolsRunning || this.#playing) return;
    this.#state.paused = true;
    this.#emit({ type: "pause-audio", job: this.#state.job });
  }

  speakIfAllowed({ nowMs, userIsQuiet }: { nowMs: number; userIsQuiet: boolean }): void {
    if (this.#state.type !== "preparing" || !this.#state.ready) return;
    const { job, toolsRunning } = this.#state;
    const greets = job.type === "line" && job.source === "first-message";
    if (!userIsQuiet && !greets) return;
    if (nowMs < this.#backoffUntilMs || (job.type === "reply" && nowMs < job.notBeforeMs)) return;
    this.#sendFinalNow();
    this.#state = { type: "speaking", job, sinceMs: nowMs, partialMs: nowMs, toolsRunning, paused: false };
    this.#emit({ type: "speech-update", status: "started", role: "assistant", turn: job.turn });
    this.#emit({ type: "start-audio", job });
  }

  tick({ nowMs, playing, userIsQuiet }: { nowMs: number; playing: boolean; userIsQuiet: boolean }): void {
    this.#playing = playing;
    if (this.#pendingFinal !== undefined && nowMs >= this.#pendingFinal.atMs) this.#sendFinalNow();
    if (this.#state.type !== "speaking") return;
    const { job, partialMs, paused } = this.#state;
    if (paused && userIsQuiet) {
      this.#state.paused = false;
      this.#emit({ type: "resume-audio", job });
    }
    if (nowMs - partialMs >= PARTIAL_MS) {
      this.#state.partialMs = nowMs;
      this.#emit({ type: "assistant-partial", job });
    }
  }

  /** Barge-in: the user takes the floor. */
  interrupt(backoffUntilMs: number): void {
    if (this.#state.type !== "speaking") return;
    const { job } = this.#state;
    this.#backoffUntilMs = backoffUntilMs;
    this.#emit({ type: "cut-audio", job });
    this.#emit({ type: "user-interrupted", job });
    this.#stopSpeaking(job);
    this.#sendFinalNow();
    this.prepareNext();
  }

  /** Ends a job that has been played. @returns the job, if it was the current one */
  finishJob(id: number, nowMs: number): Job | undefined {
    if (this.#state.type === "idle" || this.#state.job.id !== id) return undefined;
    const { type, job } = this.#state;
    if (type === "speaking") {
      this.#stopSpeaking(job);
      this.#pendingFinal = { job, atMs: nowMs + FINAL_MS };
    } else {
      this.#state = { type: "idle" };
      this.#emit({ type: "abandon", job });
    }
    return job;
  }

  /** Ends with the call. */
  finish(): void {
    if (this.#state.type === "speaking") {
      const { job } = this.#state;
      this.#emit({ type: "cut-audio", job });
      this.#stopSpeaking(job);
    }
    this.abandon();
    this.#sendFinalNow();
    this.#queue = [];
  }

  #yieldFloor(): void {
    if (this.#state.type === "speaking") {
      const { job } = this.#state;
      this.#emit({ type: "cut-audio", job });
      this.#stopSpeaking(job);
      this.#sendFinalNow();
    } else if (this.#state.type === "preparing" && !this.#state.toolsCalled) {
      const { job } = this.#state;
      this.abandon();
      this.#queue.unshift({ ...job, id: ++this.#jobs });
    }
  }

  #stopSpeaking(job: Job): void {
    this.#sendFinalNow();
    this.#state = { type: "idle" };
    this.#emit({ type: "speech-update", status: "stopped", role: "assistant", turn: job.turn });
    this.#pendingFinal = { job, atMs: 0 };
  }

  #sendFinalNow(): void {
    if (this.#pendingFinal === undefined) return;
    const { job } = this.#pendingFinal;
    this.#pendingFinal = undefined;
    this.#emit({ type: "assistant-final", job });
  }
}

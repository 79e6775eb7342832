/** The assistant's half of turn-taking: what it is to say, one job at a time, and when it may be heard. */
import type { Job, LineJob, ReplyJob, TurnEffect, UserTurn } from "./turn-types.ts";

/** Cadence of the assistant's partial transcripts, and how long after the last audio the final one comes. */
const PARTIAL_MS = 480;
const FINAL_MS = 160;
/** Lines that may wait to be said; a client that asks for more is not served. */
const LONGEST_QUEUE = 32;

type AssistantState =
  | { type: "idle" }
  | { type: "preparing"; job: Job; ready: boolean; toolsCalled: boolean; toolsRunning: boolean }
  | {
      type: "speaking";
      job: Job;
      sinceMs: number;
      partialMs: number;
      toolsRunning: boolean;
      /** The user speaks into the wait for a tool: the rest waits until they are done. */
      paused: boolean;
    };

type QueuedJob = Omit<LineJob, "turn"> | Omit<ReplyJob, "turn">;

export type NewLine = Omit<LineJob, "type" | "id" | "turn">;
export type NewReply = Omit<ReplyJob, "type" | "id" | "turn">;

export class AssistantSide {
  readonly #emit: (effect: TurnEffect) => void;
  /** The turn that what the assistant says on its own belongs to. */
  readonly #currentTurn: () => number;
  #state: AssistantState = { type: "idle" };
  #queue: QueuedJob[] = [];
  #jobs = 0;
  #backoffUntilMs = 0;
  /** Audio went out in the last tick. */
  #playing = false;
  #finalDue: { job: Job; atMs: number } | undefined;

  constructor(emit: (effect: TurnEffect) => void, currentTurn: () => number) {
    this.#emit = emit;
    this.#currentTurn = currentTurn;
  }

  get idle(): boolean {
    return this.#state.type === "idle";
  }

  /** It is being heard, not merely having the floor while its tools run. */
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

  /** The user's turn whose answer is being prepared and may still be dropped: no tool has acted on it. */
  inaudibleReply(): UserTurn | undefined {
    if (this.#state.type !== "preparing" || this.#state.toolsCalled) return undefined;
    return this.#state.job.type === "reply" ? this.#state.job.answers : undefined;
  }

  enqueueLine(line: NewLine): void {
    if (this.#queue.length >= LONGEST_QUEUE) this.#emit({ type: "refuse-line", text: line.text });
    else this.#queue.push({ type: "line", id: ++this.#jobs, ...line });
    this.prepareNext();
  }

  /** Says it now: what is heard is cut, what was not heard yet comes after it. */
  cutInWith(line: NewLine): void {
    if (this.#queue.length >= LONGEST_QUEUE) {
      this.#emit({ type: "refuse-line", text: line.text });
      return;
    }
    this.#makeWay();
    this.#queue.unshift({ type: "line", id: ++this.#jobs, ...line });
    this.prepareNext();
  }

  /** One reply answers all that was said since the last: one that waits or has not acted yet gives way. */
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

  toolsRun(id: number, running: boolean): void {
    if (this.#state.type === "idle" || this.#state.job.id !== id) return;
    this.#state.toolsRunning = running;
    if (this.#state.type === "preparing") this.#state.toolsCalled = true;
  }

  /** Drops the job being prepared. */
  abandon(): void {
    if (this.#state.type !== "preparing") return;
    const { job } = this.#state;
    this.#state = { type: "idle" };
    this.#emit({ type: "abandon", job });
  }

  /** The user begins to speak while tools run: what comes next waits. */
  pauseForUser(): void {
    if (this.#state.type !== "speaking" || !this.#state.toolsRunning || this.#playing) return;
    this.#state.paused = true;
    this.#emit({ type: "pause-audio", job: this.#state.job });
  }

  speakIfAllowed(nowMs: number, userIsQuiet: boolean): void {
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

  tick(nowMs: number, playing: boolean, userIsQuiet: boolean): void {
    this.#playing = playing;
    if (this.#finalDue !== undefined && nowMs >= this.#finalDue.atMs) this.#sendFinalNow();
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

  /** The user has taken the floor. */
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

  /** Everything of the job is said. Answers the job when it was the current one. */
  done(id: number, nowMs: number): Job | undefined {
    if (this.#state.type === "idle" || this.#state.job.id !== id) return undefined;
    const { type, job } = this.#state;
    if (type === "speaking") {
      this.#stopSpeaking(job);
      this.#finalDue = { job, atMs: nowMs + FINAL_MS };
    } else {
      this.#state = { type: "idle" };
      this.#emit({ type: "abandon", job });
    }
    return job;
  }

  /** The call is over. */
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

  #makeWay(): void {
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
    this.#finalDue = { job, atMs: 0 };
  }

  #sendFinalNow(): void {
    if (this.#finalDue === undefined) return;
    const { job } = this.#finalDue;
    this.#finalDue = undefined;
    this.#emit({ type: "assistant-final", job });
  }
}

/** Drives the turn machine as a call would: jobs become ready and are played out, turns are recognised. */
import { TurnMachine } from "../../session/turn-machine.ts";
import {
  asksModel,
  type Job,
  type TurnEffect,
  type TurnEvent,
  type TurnPlan,
} from "../../session/turn-types.ts";
import { ASSISTANT } from "./live-call.ts";

export interface DriveOptions {
  plan?: Partial<TurnPlan>;
  /** What is recognised at a pause. */
  hears?: (turn: number) => string | null;
  /** How long a job takes to be ready, and how long it speaks; 0: its words cannot be spoken; `undefined`: it has none. */
  readyAfterMs?: number;
  speaksMs?: (job: Job) => number | undefined;
}

type At = { atMs: number };

export class Drive {
  readonly machine: TurnMachine;
  readonly log: (TurnEffect & At)[] = [];
  nowMs = 0;
  readonly #options: Required<Omit<DriveOptions, "plan">>;
  #pending: { atMs: number; event: TurnEvent }[] = [];
  #playing: { job: Job; leftMs: number } | undefined;
  #current: Job | undefined;

  constructor({
    plan = {},
    hears = () => "Hello there.",
    readyAfterMs = 0,
    speaksMs = () => 2_000,
  }: DriveOptions = {}) {
    this.machine = new TurnMachine({ ...ASSISTANT, ...plan });
    this.#options = { hears, readyAfterMs, speaksMs };
    this.send({ type: "opened" });
  }

  /** Effects in short, with their times. */
  get story(): string[] {
    return this.log.map((effect) => `${effect.atMs} ${short(effect)}`);
  }

  /** Effects of a type, in short. */
  all(type: TurnEffect["type"]): string[] {
    return this.log
      .filter((effect) => effect.type === type)
      .map((effect) => `${effect.atMs} ${short(effect)}`);
  }

  send(event: TurnEvent): void {
    for (const effect of this.machine.handle(event)) {
      this.log.push({ ...effect, atMs: this.nowMs });
      this.#react(effect);
    }
  }

  run(untilMs: number): this {
    while (this.nowMs < untilMs && !this.machine.ended) this.#tick();
    return this;
  }

  /** The user speaks for a while: edges come as late as the detector gives them. */
  speak(durationMs: number): this {
    const startMs = this.nowMs;
    this.run(startMs + 100);
    this.send({ type: "speech-started", atMs: startMs });
    this.run(startMs + durationMs + 400);
    this.send({ type: "speech-ended", atMs: startMs + durationMs });
    return this;
  }

  /** Tools of the job in hand run for a while; words that are given call none. */
  runTools(durationMs: number): void {
    if (this.#current === undefined || !asksModel(this.#current)) return;
    const job = this.#current.id;
    this.send({ type: "job-tools", job, running: true });
    this.run(this.nowMs + durationMs);
    this.send({ type: "job-tools", job, running: false });
  }

  #tick(): void {
    this.nowMs += 10;
    const due = this.#pending.filter(({ atMs }) => atMs <= this.nowMs);
    this.#pending = this.#pending.filter(({ atMs }) => atMs > this.nowMs);
    for (const { event } of due) this.send(event);
    const playing = (this.#playing?.leftMs ?? 0) > 0;
    if (this.#playing !== undefined) {
      this.#playing.leftMs -= 10;
      if (this.#playing.leftMs <= 0) this.#finish(this.#playing.job);
    }
    this.send({ type: "tick", nowMs: this.nowMs, playing });
  }

  #finish(job: Job): void {
    this.#playing = undefined;
    this.send({ type: "job-done", job: job.id, saidEndCallPhrase: false, wantsEnd: false });
  }

  #react(effect: TurnEffect): void {
    switch (effect.type) {
      case "transcribe":
        this.send({ type: "transcribed", request: effect.request, text: this.#options.hears(effect.turn) });
        return;
      case "prepare": {
        this.#current = effect.job;
        const silent = this.#options.speaksMs(effect.job) === undefined;
        const event: TurnEvent = silent
          ? { type: "job-done", job: effect.job.id, saidEndCallPhrase: false, wantsEnd: false }
          : { type: "job-ready", job: effect.job.id };
        this.#pending.push({ atMs: this.nowMs + this.#options.readyAfterMs, event });
        return;
      }
      case "start-audio":
        this.#playing = { job: effect.job, leftMs: this.#options.speaksMs(effect.job) ?? 0 };
        return;
      case "cut-audio":
        this.#playing = undefined;
        return;
      default:
        return;
    }
  }
}

function short(effect: TurnEffect): string {
  switch (effect.type) {
    case "speech-update":
      return `${effect.role} ${effect.status} ${effect.turn}`;
    case "close-turn":
      return `close-turn ${effect.said.turn}: ${effect.text}${effect.reopened ? " (again)" : ""}`;
    case "open-turn":
    case "transcribe":
    case "transcribe-partial":
      return `${effect.type} ${effect.turn}`;
    case "user-partial":
      return `user-partial ${effect.text}`;
    case "refuse-line":
      return `refuse-line ${effect.text}`;
    case "end-call":
      return `end-call ${effect.reason} ${effect.closeCode}`;
    case "prepare":
    case "abandon":
    case "start-audio":
    case "cut-audio":
    case "assistant-final":
    case "assistant-partial":
    case "pause-audio":
    case "resume-audio":
    case "user-interrupted":
      return `${effect.type} ${effect.job.text ?? `reply ${effect.job.turn}`}`;
  }
}

/** Decides when the caller has the floor and what to do then. Times are the caller's clock: samples sent. */
import { CALLER_RATE, msToSamples } from "@offhook/audio/pcm";
import type { CalleeTurn } from "./hearing.ts";
import type { CallerPlan, CallerStep } from "./steps.ts";

export type SayStep = Extract<CallerStep, { type: "say" }>;

export type CallerAction = { type: "say"; step: SayStep; interrupting: boolean } | { type: "hang-up" };

/** Wait before hanging up after the last reply: the callee may have more to say. */
const HANG_UP_HESITATION_MS = 500;
/** Wait after a turn that the caller talked over: what a callee says to an interruption comes in a turn of its own. */
const TALKED_OVER_PATIENCE_MS = 3_000;
const LAST_STEP: CallerStep = { type: "hang-up", when: "after-reply" };

export class Dialogue {
  readonly #steps: readonly CallerStep[];
  #next = 0;
  #mayAct: boolean;
  /** When the current hesitation ends. */
  #actAt: number | undefined;
  #speaking: SayStep | undefined;
  /** Start of the caller's last utterance; a turn of the callee that began before it is no reply. */
  #beganAt = -1;
  /** End of it; of a turn that was over by then the caller takes no notice. */
  #finishedAt = -1;
  /** How much longer the caller waits after a turn that is no reply. */
  #patienceMs = 0;
  #missedInterruptions: string[] = [];

  constructor({ waitForCalleeFirst, steps }: CallerPlan) {
    this.#steps = steps;
    this.#mayAct = !waitForCalleeFirst;
  }

  /** Steps not started, except for hanging up, which either side may do. */
  get remaining(): readonly CallerStep[] {
    return this.#steps.slice(this.#next).filter((step) => step.type === "say" || step.type === "stay-silent");
  }

  /** Whether the next step waits for the callee. */
  get awaitsReply(): boolean {
    return !this.#mayAct && this.#speaking === undefined;
  }

  /** Utterances meant to interrupt a callee's turn that had already ended. */
  get missedInterruptions(): readonly string[] {
    return this.#missedInterruptions;
  }

  /** The callee's turn is over. */
  noteCalleeTurn(turn: CalleeTurn): void {
    if (this.#speaking !== undefined || turn.endSamples <= this.#finishedAt) return;
    this.#mayAct = true;
    this.#patienceMs = turn.startSamples < this.#beganAt ? TALKED_OVER_PATIENCE_MS : 0;
  }

  /** The caller's utterance is over. @param endSamples end of its last audible sample */
  noteSpeechEnd(endSamples: number): void {
    this.#speaking = undefined;
    this.#finishedAt = endSamples;
  }

  /** The next action, if one is due. @param calleeTurn the callee's open turn */
  decide(now: number, calleeTurn: Readonly<CalleeTurn> | undefined): CallerAction | undefined {
    if (this.#speaking !== undefined) return this.#decideWhileSpeaking(this.#speaking, now);
    const step = this.#steps[this.#next] ?? LAST_STEP;
    switch (step.type) {
      case "say":
        return this.#decideToSay(step, now, calleeTurn);
      case "stay-silent":
        if (this.#hesitates(now, step.forMs)) return undefined;
        this.#mayAct = calleeTurn === undefined;
        this.#advance();
        return this.decide(now, calleeTurn);
      case "await-hang-up":
        return undefined;
      case "hang-up":
        if (step.when === "after-reply" && !this.#hasFloor(now, calleeTurn, HANG_UP_HESITATION_MS)) return;
        return { type: "hang-up" };
    }
  }

  #decideWhileSpeaking({ hangUpAfterMs }: SayStep, now: number) {
    if (hangUpAfterMs === undefined || now - this.#beganAt < samples(hangUpAfterMs)) return undefined;
    return { type: "hang-up" } as const;
  }

  #decideToSay(step: SayStep, now: number, calleeTurn: Readonly<CalleeTurn> | undefined) {
    const { interruptAfterMs } = step;
    const interrupting =
      interruptAfterMs !== undefined &&
      calleeTurn !== undefined &&
      calleeTurn.endSamples > this.#finishedAt &&
      calleeTurn.heardSamples >= samples(interruptAfterMs);
    if (!interrupting && !this.#hasFloor(now, calleeTurn, step.afterMs)) return undefined;
    if (interruptAfterMs !== undefined && !interrupting) {
      this.#missedInterruptions.push(step.utterance.text);
    }
    this.#advance();
    this.#mayAct = false;
    this.#beganAt = now;
    this.#speaking = step;
    return { type: "say", step, interrupting } as const;
  }

  #hasFloor(now: number, calleeTurn: Readonly<CalleeTurn> | undefined, hesitationMs: number): boolean {
    if (this.#mayAct && calleeTurn !== undefined) {
      // The callee continues after its committed turn.
      this.#mayAct = false;
      this.#actAt = undefined;
    }
    return this.#mayAct && !this.#hesitates(now, this.#patienceMs + hesitationMs);
  }

  #hesitates(now: number, forMs: number): boolean {
    this.#actAt ??= now + samples(forMs);
    return now < this.#actAt;
  }

  #advance(): void {
    this.#next += 1;
    this.#actAt = undefined;
  }
}

function samples(ms: number): number {
  return msToSamples(ms, CALLER_RATE);
}

/** How long the assistant lets the caller wait, heard in the audio itself. */
import { isAudible } from "../pcm.ts";

/** A pause of the assistant at least this long makes the next sound the start of an answer; network gaps are shorter. */
const ANSWER_PAUSE_MS = 300;

export interface TurnTimes {
  /** From the caller's connection to the assistant's first audible frame. */
  firstAudio(durationMs: number): void;
  /** From the caller's last audible frame to the assistant's first audible frame. */
  response(durationMs: number): void;
}

/** Listens to both directions of one call. */
export class TurnClock {
  readonly #startedAt = performance.now();
  readonly #times: TurnTimes;
  #callerHeardAt: number | undefined;
  #assistantHeardAt: number | undefined;

  constructor(times: TurnTimes) {
    this.#times = times;
  }

  /** Whole samples of the caller. */
  callerAudio(samples: Buffer): void {
    if (isAudible(samples)) this.#callerHeardAt = performance.now();
  }

  /** Whole samples of the assistant. */
  assistantAudio(samples: Buffer): void {
    if (!isAudible(samples)) return;
    const now = performance.now();
    if (this.#assistantHeardAt === undefined) this.#times.firstAudio(now - this.#startedAt);
    const paused = now - (this.#assistantHeardAt ?? Number.NEGATIVE_INFINITY) >= ANSWER_PAUSE_MS;
    if (paused && this.#callerHeardAt !== undefined) {
      this.#times.response(now - this.#callerHeardAt);
      this.#callerHeardAt = undefined;
    }
    this.#assistantHeardAt = now;
  }
}

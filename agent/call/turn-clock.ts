/** How long the assistant lets the caller wait, heard in the audio itself. */
/** A pause of the assistant at least this long makes the next sound the start of an answer; network gaps are shorter. */
const ANSWER_PAUSE_MS = 300;
/** A number, for a field that always holds one is written in place: times are noted for every frame. */
const NEVER = Number.NEGATIVE_INFINITY;

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
  /** When each side was last heard, never at first; a caller who has been answered counts as not heard. */
  #callerHeardAt = NEVER;
  #assistantHeardAt = NEVER;

  constructor(times: TurnTimes) {
    this.#times = times;
  }

  /** The caller is audible. @param now of the call's monotonic clock, in milliseconds */
  callerSound(now: number): void {
    this.#callerHeardAt = now;
  }

  /** The assistant is audible. @param now of the call's monotonic clock, in milliseconds */
  assistantSound(now: number): void {
    if (this.#assistantHeardAt === NEVER) this.#times.firstAudio(now - this.#startedAt);
    if (now - this.#assistantHeardAt >= ANSWER_PAUSE_MS && this.#callerHeardAt !== NEVER) {
      this.#times.response(now - this.#callerHeardAt);
      this.#callerHeardAt = NEVER;
    }
    this.#assistantHeardAt = now;
  }
}

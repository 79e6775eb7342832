/** The time of a sandbox. Twins ask it instead of the machine. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** The machine's own time. */
export const liveClock: Clock = { now: () => Date.now() };

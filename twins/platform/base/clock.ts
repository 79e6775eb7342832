/**
 * Time. Twins read their sandbox's clock, which can be set, frozen and sped up, never the machine's. The linter bans
 * `Date.now()` and `new Date()` from every other file; code that needs the machine's time (durations shown to people, the
 * wall time in a journal) calls `wallTime`.
 */
import { performance } from "node:perf_hooks";

/** The time of a sandbox. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** A clock that may be set while code waits for a moment. */
export interface MovingClock extends Clock {
  /** Real milliseconds until a moment; 0 when it has passed, `undefined` while the clock is frozen. */
  realMsUntil(ms: number): number | undefined;
  /** Calls `changed` whenever the clock has been set. @returns a function that unsubscribes */
  watch(changed: () => void): () => void;
}

/** The machine's wall clock, in milliseconds since the Unix epoch; it can go back. */
export function wallTime(): number {
  return Date.now();
}

/** A machine's clocks, in milliseconds; tests fake one. */
export interface Machine {
  wallMs(): number;
  /** Never goes back, but may stand still while the machine is suspended. */
  monotonicMs(): number;
}

/**
 * Makes a clock that never goes back: it follows the wall clock forward (after a suspend or a correction), and keeps
 * counting from where it was when the wall clock is set back.
 */
export function createSteadyTime(machine: Machine): () => number {
  let aheadMs = machine.wallMs() - machine.monotonicMs();
  return () => {
    const monotonicMs = machine.monotonicMs();
    aheadMs = Math.max(aheadMs, machine.wallMs() - monotonicMs);
    return monotonicMs + aheadMs;
  };
}

const steadyTime = createSteadyTime({ wallMs: wallTime, monotonicMs: () => performance.now() });

/** Simulated time stops at the end of the year 9999, the last that ISO 8601 writes with four digits. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The machine's own time, never going back. */
export const liveClock: MovingClock = {
  now: () => Math.floor(steadyTime()),
  realMsUntil: (ms) => Math.max(0, ms - steadyTime()),
  watch: () => () => undefined,
};

export type ClockMode = "live" | "offset" | "frozen" | "sped";

/** A clock setting. Absent members take their defaults, so that a setting never depends on the one before. */
export interface ClockSetting {
  /** Milliseconds since the Unix epoch; default: the clock's current time. */
  now?: number;
  /** Simulated milliseconds per real one; 0 freezes the clock. Default 1. */
  speed?: number;
}

/** A clock as the control plane shows it. */
export interface ClockDescription {
  /** Simulated time, ISO 8601. */
  now: string;
  mode: ClockMode;
  speed: number;
}

/**
 * One sandbox's clock: a straight line through an anchor point. Live is anchored on the machine's time with speed 1,
 * offset is anchored elsewhere, frozen has speed 0. So the clock goes back only when it is set back.
 */
export class SandboxClock implements MovingClock {
  readonly #watchers = new Set<() => void>();
  readonly #steadyTime: () => number;
  #anchorSteadyMs = 0;
  #anchorMs = 0;
  #speed = 1;

  constructor(steady: () => number = steadyTime) {
    this.#steadyTime = steady;
  }

  now(): number {
    const simulated = this.#anchorMs + (this.#steadyTime() - this.#anchorSteadyMs) * this.#speed;
    return Math.min(Math.floor(simulated), LAST_MS);
  }

  get mode(): ClockMode {
    if (this.#speed === 0) return "frozen";
    if (this.#speed !== 1) return "sped";
    return this.#anchorMs === this.#anchorSteadyMs ? "live" : "offset";
  }

  set({ now = this.now(), speed = 1 }: ClockSetting): void {
    this.#anchorSteadyMs = this.#steadyTime();
    this.#anchorMs = now;
    this.#speed = speed;
    this.#tell();
  }

  /** Returns to the machine's time. */
  setLive(): void {
    this.#anchorSteadyMs = 0;
    this.#anchorMs = 0;
    this.#speed = 1;
    this.#tell();
  }

  realMsUntil(ms: number): number | undefined {
    const leftMs = ms - this.now();
    if (leftMs <= 0) return 0;
    return this.#speed === 0 ? undefined : leftMs / this.#speed;
  }

  watch(changed: () => void): () => void {
    const watcher = () => changed();
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #tell(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  describe(): ClockDescription {
    return { now: new Date(this.now()).toISOString(), mode: this.mode, speed: this.#speed };
  }
}

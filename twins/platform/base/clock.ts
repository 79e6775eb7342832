/**
 * Time. Twins ask their sandbox's clock, never the machine: it can be set, frozen and sped up. The linter keeps
 * `Date.now()` and `new Date()` out of every other file; what needs the machine's time by its nature (how long something
 * took for a person, the wall time in a journal) asks `wallTime` by name.
 */
import { performance } from "node:perf_hooks";

/** The time of a sandbox. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** A clock that may be set while something waits for a moment to come. */
export interface MovingClock extends Clock {
  /** How many of the machine's milliseconds it is until a moment; 0 when it has come; `undefined`: time stands still. */
  realMsUntil(ms: number): number | undefined;
  /** Calls whenever the clock has been set. @returns what ends that */
  watch(changed: () => void): () => void;
}

/** The machine's time, in milliseconds since the Unix epoch, as its owner sees it; it may be set back. */
export function wallTime(): number {
  return Date.now();
}

/** What a machine says of time, in milliseconds; a test plays one. */
export interface Machine {
  wallMs(): number;
  /** Never goes back, but may stand still while the machine is suspended. */
  monotonicMs(): number;
}

/**
 * The machine's time that never goes back: it follows the machine forward (a suspend, a correction), and when the machine
 * is set back it goes on from where it was.
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

/** What a clock is set to. What is left out has its default, so that a setting never depends on the one before. */
export interface ClockSetting {
  /** Milliseconds since the Unix epoch; default: go on from where the clock stands. */
  now?: number;
  /** Simulated milliseconds per real one; 0 stands still. Default 1. */
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
 * One sandbox's clock. Every mode is the same straight line through an anchor: live has its anchor on the machine's time
 * and speed 1, offset has it elsewhere, frozen has speed 0. So it goes back only when it is set back.
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

  /** Back to the machine's time. */
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

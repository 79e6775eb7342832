/** Figures of one phase of a load test, and whether the load itself was in time for them. */
import type { CallerWindow } from "./callers.ts";
import { Histogram } from "./histogram.ts";

/** How late the load itself may be for a figure that contains its own time. */
export interface Tolerance {
  /** At the 99th percentile of its frames and of its event loop. */
  p99Ms: number;
  /** A single pause. */
  pauseMs: number;
}

export const TOLERANCE: Readonly<Tolerance> = { p99Ms: 20, pauseMs: 1_000 };

/** Speech that arrives later than this is heard as a gap: common jitter buffers hold as much. */
export const LATE_MS = 60;

export interface Percentiles {
  count: number;
  p50: number;
  p95: number;
  p99: number;
}

/** Frames of the deployment. */
export interface LateFrames {
  count: number;
  p99Ms: number;
  /** Share later than `LATE_MS`, from 0 to 1. */
  shareLate: number;
}

/** Timing of the load itself; of several processes the worst. */
export interface LoadTiming {
  frames: number;
  frameP99Ms: number;
  frameMaxMs: number;
  /** Share of its frames later than `LATE_MS`, over all processes. */
  shareLate: number;
  loopDelayP99Ms: number;
}

export interface PhaseFigures {
  phase: string;
  /** Calls that were to be up. */
  calls: number;
  seconds: number;
  /** Answered calls at a time: least, mean and most. */
  active: { min: number; mean: number; max: number };
  placed: number;
  answered: number;
  answeredPerSecond: number;
  ended: number;
  failed: number;
  failures: Record<string, number>;
  /** `null`: no value, or refused. */
  setupMs: Percentiles | null;
  responseMs: Percentiles | null;
  lateFrames: LateFrames | null;
  load: LoadTiming;
  /** Why times are not given, although there are some. */
  refused: string | null;
}

export class PhaseTally {
  readonly #phase: string;
  readonly #calls: number;
  readonly #tolerance: Tolerance;
  readonly #startedAt = performance.now();
  readonly #sentLate = new Map<number, Histogram>();
  readonly #loopDelayMs = new Map<number, number>();
  readonly #setupMs = new Histogram();
  readonly #responseMs = new Histogram();
  readonly #heardLateMs = new Histogram();
  readonly #failures = new Map<string, number>();
  #placed = 0;
  #answered = 0;
  #ended = 0;
  #connected = { min: Number.POSITIVE_INFINITY, max: 0, sum: 0, windows: 0 };

  /** @param calls that are to be up */
  constructor(phase: string, calls: number, tolerance: Tolerance) {
    this.#phase = phase;
    this.#calls = calls;
    this.#tolerance = tolerance;
  }

  /** Takes the windows of all processes, in the order of the processes. */
  add(windows: readonly CallerWindow[]): void {
    windows.forEach((window, process) => {
      const sent = this.#sentLate.get(process) ?? new Histogram();
      this.#sentLate.set(process, sent);
      sent.merge(window.sentLateMs);
      this.#loopDelayMs.set(process, window.loopDelayP99Ms);
      this.#setupMs.merge(window.setupMs);
      this.#responseMs.merge(window.responseMs);
      this.#heardLateMs.merge(window.heardLateMs);
      this.#placed += window.placed;
      this.#answered += window.answered;
      this.#ended += window.ended;
      for (const [reason, count] of Object.entries(window.failures)) {
        this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + count);
      }
    });
    const connected = windows.reduce((sum, window) => sum + window.connected, 0);
    const { min, max, sum, windows: taken } = this.#connected;
    this.#connected = {
      min: Math.min(min, connected),
      max: Math.max(max, connected),
      sum: sum + connected,
      windows: taken + 1,
    };
  }

  figures(): PhaseFigures {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const load = this.#load();
    const refused = refusalOf(load, this.#tolerance);
    const { min, max, sum, windows } = this.#connected;
    return {
      phase: this.#phase,
      calls: this.#calls,
      seconds: round(seconds),
      active: { min: windows === 0 ? 0 : min, mean: windows === 0 ? 0 : round(sum / windows), max },
      placed: this.#placed,
      answered: this.#answered,
      answeredPerSecond: seconds > 0 ? round(this.#answered / seconds) : 0,
      ended: this.#ended,
      failed: [...this.#failures.values()].reduce((total, count) => total + count, 0),
      failures: Object.fromEntries(this.#failures),
      setupMs: refused === null ? percentilesOf(this.#setupMs) : null,
      responseMs: refused === null ? percentilesOf(this.#responseMs) : null,
      lateFrames: refused === null ? lateFramesOf(this.#heardLateMs) : null,
      load,
      refused,
    };
  }

  #load(): LoadTiming {
    const processes = [...this.#sentLate.values()];
    const all = new Histogram();
    for (const one of processes) all.merge(one.buckets());
    return {
      frames: all.total,
      frameP99Ms: Math.max(0, ...processes.map((one) => one.percentile(0.99))),
      frameMaxMs: all.maxMs,
      shareLate: all.shareAbove(LATE_MS),
      loopDelayP99Ms: round(Math.max(0, ...this.#loopDelayMs.values())),
    };
  }
}

/** Why figures that contain the load's own time are not given; `null` when it was in time. */
function refusalOf(load: LoadTiming, { p99Ms, pauseMs }: Tolerance): string | null {
  const late = [
    { what: "p99 of its frames", ms: load.frameP99Ms, limitMs: p99Ms },
    { what: "p99 of its event loop", ms: load.loopDelayP99Ms, limitMs: p99Ms },
    { what: "its longest pause", ms: load.frameMaxMs, limitMs: pauseMs },
  ].filter(({ ms, limitMs }) => ms > limitMs);
  if (late.length === 0) return null;
  const said = late.map(({ what, ms, limitMs }) => `${what} ${Math.round(ms)} ms, limit ${limitMs} ms`);
  return `the load itself was late (${said.join("; ")})`;
}

function percentilesOf(histogram: Histogram): Percentiles | null {
  if (histogram.total === 0) return null;
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => histogram.percentile(share));
  return { count: histogram.total, p50: p50 ?? 0, p95: p95 ?? 0, p99: p99 ?? 0 };
}

function lateFramesOf(histogram: Histogram): LateFrames | null {
  if (histogram.total === 0) return null;
  return {
    count: histogram.total,
    p99Ms: histogram.percentile(0.99),
    shareLate: histogram.shareAbove(LATE_MS),
  };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

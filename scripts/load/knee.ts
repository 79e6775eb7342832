/** Where the deployment bends: the first step that passes a limit while the load itself is in time. */
import type { PhaseFigures } from "./figures.ts";

/** What a deployment must hold. */
export interface Limits {
  setupP95Ms: number;
  responseP95Ms: number;
  /** Share of its frames that may be late beyond the load's own share, from 0 to 1. */
  shareLate: number;
  /** Share of the calls that may fail, from 0 to 1. */
  shareFailed: number;
}

export interface Knee {
  /** The last number of calls within the limits; 0 when there was none. */
  held: number;
  /** The first beyond; `null` when none was found. */
  bends: number | null;
  /** The limits that were passed, or why no knee was found. */
  because: string[];
}

const STEP = 1.25;

/** The next number of calls; `undefined` at the maximum. */
export function nextLevel(calls: number, maxCalls: number): number | undefined {
  return calls >= maxCalls ? undefined : Math.min(maxCalls, Math.ceil(calls * STEP));
}

/** The limits that a phase passed, in words. Figures that there are not pass none. */
export function passedLimits(figures: PhaseFigures, limits: Limits): string[] {
  const { setupMs, responseMs, lateFrames, load, failed, ended, active } = figures;
  const shareLate = Math.max(0, (lateFrames?.shareLate ?? 0) - load.shareLate);
  const passed: string[] = [];
  if (setupMs !== null && setupMs.p95 > limits.setupP95Ms) {
    passed.push(`set-up p95 ${setupMs.p95} ms, limit ${limits.setupP95Ms} ms`);
  }
  if (responseMs !== null && responseMs.p95 > limits.responseP95Ms) {
    passed.push(`response p95 ${responseMs.p95} ms, limit ${limits.responseP95Ms} ms`);
  }
  if (shareLate > limits.shareLate) {
    passed.push(`${percent(shareLate)} of the frames late, limit ${percent(limits.shareLate)}`);
  }
  const shareFailed = failed / Math.max(1, active.mean + ended);
  if (shareFailed > limits.shareFailed) {
    const [reason = ""] = Object.keys(figures.failures);
    passed.push(
      `${percent(shareFailed)} of the calls failed (${reason}), limit ${percent(limits.shareFailed)}`,
    );
  }
  return passed;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

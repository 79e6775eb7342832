/** Runs a load test: ramp, plateau and the search for the knee, over several processes of callers. */
import { setTimeout as wait } from "node:timers/promises";
import type { Child } from "@offhook/platform/testing/bench/child";
import type { Level } from "./callers.ts";
import { type DeploymentFigures, type DeploymentMonitor, describeDeployment } from "./deployment.ts";
import { type PhaseFigures, PhaseTally, TOLERANCE, type Tolerance } from "./figures.ts";
import { type Knee, type Limits, nextLevel, passedLimits } from "./knee.ts";
import type { CallerPlan, CallerQuestions } from "./questions.ts";

/** A process of callers. */
export type CallerProcess = Child<CallerQuestions>;

export interface LoadPlan {
  caller: CallerPlan;
  calls: number;
  /** New calls a second. */
  rate: number;
  plateauSeconds: number;
  /** Default: `TOLERANCE`. */
  tolerance?: Tolerance;
  /** Where to look for the knee; absent without the search. */
  knee?: { maxCalls: number; limits: Limits };
}

export interface LoadParts {
  processes: readonly CallerProcess[];
  monitor: DeploymentMonitor | undefined;
  /** Ends the test early; what was measured so far is its result. */
  signal: AbortSignal;
  onProgress(progress: LoadProgress): void;
}

/** Where a running test is. */
export interface LoadProgress {
  figures: PhaseFigures;
  /** The longest that the phase takes. */
  atMostSeconds: number;
}

interface Phase {
  name: string;
  calls: number;
  atMostSeconds: number;
  /** Whether it is over before, with so many calls answered and open. */
  isOver(connected: number, figures: PhaseFigures): boolean;
}

export interface LoadResult {
  processes: number;
  phases: PhaseFigures[];
  knee: Knee | null;
  deployment: DeploymentFigures | null;
  interrupted: boolean;
}

const WINDOW_MS = 500;
/** Time in which the last calls of a ramp are answered; not awaited when calls fail. */
const ANSWER_SECONDS = 15;

/** @throws Error when a process of callers ends unasked */
export async function runLoad(plan: LoadPlan, parts: LoadParts): Promise<LoadResult> {
  return new LoadRun(plan, parts).run();
}

class LoadRun {
  readonly #plan: LoadPlan;
  readonly #parts: LoadParts;
  readonly #phases: PhaseFigures[] = [];

  constructor(plan: LoadPlan, parts: LoadParts) {
    this.#plan = plan;
    this.#parts = parts;
  }

  async run(): Promise<LoadResult> {
    const { processes, monitor, signal } = this.#parts;
    const { caller, calls } = this.#plan;
    await Promise.all(processes.map((one) => one.ask("prepare", caller)));
    const { answered } = await this.#ramp("ramp", calls, 0);
    const plateau = answered === 0 ? undefined : await this.#plateau("plateau", calls);
    const knee = plateau === undefined ? null : await this.#findKnee(plateau);
    await Promise.all(processes.map((one) => one.ask("finish", {})));
    return {
      processes: processes.length,
      phases: this.#phases,
      knee,
      deployment: monitor === undefined ? null : describeDeployment(monitor),
      interrupted: signal.aborted,
    };
  }

  async #ramp(name: string, calls: number, from: number): Promise<PhaseFigures> {
    const placedSeconds = (calls - from) / this.#plan.rate;
    return this.#phase({
      name,
      calls,
      atMostSeconds: placedSeconds + ANSWER_SECONDS,
      isOver: (connected, { seconds, failed }) =>
        connected >= calls || (failed > 0 && seconds > placedSeconds + WINDOW_MS / 1000),
    });
  }

  /** @returns `undefined` when it was cut short */
  async #plateau(name: string, calls: number): Promise<PhaseFigures | undefined> {
    const { signal, monitor } = this.#parts;
    if (signal.aborted) return undefined;
    monitor?.beginPlateau();
    const figures = await this.#phase({
      name,
      calls,
      atMostSeconds: this.#plan.plateauSeconds,
      isOver: () => false,
    });
    monitor?.endPlateau();
    return signal.aborted ? undefined : figures;
  }

  async #phase({ name, calls, atMostSeconds, isOver }: Phase): Promise<PhaseFigures> {
    const { signal, processes, onProgress } = this.#parts;
    const tally = new PhaseTally(name, calls, this.#plan.tolerance ?? TOLERANCE);
    const endsAt = performance.now() + atMostSeconds * 1000;
    await this.#setLevel(calls);
    for (;;) {
      const leftMs = Math.max(0, endsAt - performance.now());
      await wait(Math.min(WINDOW_MS, leftMs), undefined, { signal }).catch(() => undefined);
      const windows = await Promise.all(processes.map((one) => one.ask("take", {})));
      tally.add(windows);
      const figures = tally.figures();
      onProgress({ figures, atMostSeconds });
      const connected = windows.reduce((sum, window) => sum + window.connected, 0);
      if (!signal.aborted && !isOver(connected, figures) && performance.now() < endsAt) continue;
      this.#phases.push(figures);
      return figures;
    }
  }

  /** Steps the number of calls up until the deployment bends, or the load is late. */
  async #findKnee(plateau: PhaseFigures): Promise<Knee | null> {
    const { knee } = this.#plan;
    if (knee === undefined) return null;
    let held = 0;
    for (let figures: PhaseFigures | undefined = plateau; figures !== undefined; ) {
      const { calls, refused } = figures;
      if (refused !== null) return { held, bends: null, because: [`${calls} calls: ${refused}`] };
      const because = passedLimits(figures, knee.limits);
      if (because.length > 0) return { held, bends: calls, because };
      held = calls;
      const next = nextLevel(calls, knee.maxCalls);
      if (next === undefined)
        return { held, bends: null, because: [`no more than ${calls} calls were tried`] };
      await this.#ramp(`ramp to ${next}`, next, calls);
      figures = await this.#plateau(`${next} calls`, next);
    }
    return { held, bends: null, because: ["the search was interrupted"] };
  }

  /** Shares calls and rate among the processes. */
  async #setLevel(calls: number): Promise<void> {
    const { processes } = this.#parts;
    const perSecond = this.#plan.rate / processes.length;
    const levels = processes.map((_, index): Level => {
      const share = Math.floor(calls / processes.length) + (index < calls % processes.length ? 1 : 0);
      return { calls: share, perSecond };
    });
    await Promise.all(levels.map((level, index) => processes[index]?.ask("setLevel", level)));
  }
}

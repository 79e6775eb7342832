/** Prints a load test: what it is going to do, its progress, its figures. */
import type { Terminal } from "../shared/terminal.ts";
import type { DeploymentFigures } from "./deployment.ts";
import { LATE_MS, type LateFrames, type Percentiles, type PhaseFigures } from "./figures.ts";
import { type Knee, nextLevel, percent } from "./knee.ts";
import type { LoadOptions } from "./options.ts";
import type { LoadProgress, LoadResult } from "./run.ts";

/** Says whom it will call how often, and what that may cost. */
export function printPlan(options: LoadOptions, terminal: Terminal): void {
  const { calls, rate, plateauSeconds, knee, callee, scenario, processes } = options;
  const { bold, dim, wrap } = terminal;
  const who = `${calls} calls at ${callee.url}, ${rate} new ones a second, kept up for ${plateauSeconds} s`;
  wrap(`${who}; ${scenario}, from ${processes} process${processes === 1 ? "" : "es"}`, {
    head: `${bold("load")}  `,
  });
  const minutes = Math.max(1, Math.round(callMinutes(options)));
  const most = knee === undefined ? "about" : `up to ${knee.maxCalls} calls, so at most`;
  wrap(`${most} ${minutes} minutes of calls: a paid runtime charges for them`, {
    indent: "      ",
    style: dim,
  });
}

/** Minutes of all calls together. */
function callMinutes({ calls, rate, plateauSeconds, knee }: LoadOptions): number {
  let seconds = calls * (calls / rate / 2 + plateauSeconds);
  const { maxCalls = calls } = knee ?? {};
  for (let level = nextLevel(calls, maxCalls); level !== undefined; level = nextLevel(level, maxCalls)) {
    seconds += level * plateauSeconds;
  }
  return seconds / 60;
}

/** Where progress goes: a line that is rewritten on a terminal, lines at intervals elsewhere. */
export interface ProgressStream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

const LINE_MS = 5_000;
const DEFAULT_COLUMNS = 80;

export class ProgressLine {
  readonly #stream: ProgressStream;
  #printedAt = performance.now();

  constructor(stream: ProgressStream) {
    this.#stream = stream;
  }

  update(progress: LoadProgress): void {
    const text = describeProgress(progress);
    if (this.#stream.isTTY === true) {
      const columns = this.#stream.columns ?? DEFAULT_COLUMNS;
      this.#stream.write(`\r\u001b[K${text.slice(0, columns - 1)}`);
    } else if (performance.now() - this.#printedAt >= LINE_MS) {
      this.#printedAt = performance.now();
      this.#stream.write(`${text}\n`);
    }
  }

  clear(): void {
    if (this.#stream.isTTY === true) this.#stream.write("\r\u001b[K");
  }
}

function describeProgress({ figures, atMostSeconds }: LoadProgress): string {
  const { phase, seconds, active, failed, setupMs, responseMs, lateFrames, load, refused } = figures;
  const parts = [
    `${phase} ${seconds.toFixed(0)}/${atMostSeconds.toFixed(0)} s`,
    `${active.max} calls`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(setupMs ? [`set-up p95 ${setupMs.p95} ms`] : []),
    ...(responseMs ? [`response p95 ${responseMs.p95} ms`] : []),
    ...(lateFrames ? [`late ${percent(lateFrames.shareLate)}`] : []),
    refused === null ? `load p99 ${load.frameP99Ms} ms` : "load is late",
  ];
  return parts.join("  ");
}

export function printResult(result: LoadResult, terminal: Terminal): void {
  for (const figures of result.phases) printPhase(figures, terminal);
  if (result.deployment !== null) printDeployment(result.deployment, terminal);
  if (result.knee !== null) printKnee(result.knee, terminal);
  if (result.interrupted) terminal.line(terminal.bad("interrupted: this is what was measured until then"));
}

const LABEL_WIDTH = 10;
const INDENT = " ".repeat(LABEL_WIDTH + 2);

function printPhase(figures: PhaseFigures, terminal: Terminal): void {
  const { phase, seconds, active, answered, answeredPerSecond, ended, failed, failures, load } = figures;
  const { bold, bad, line } = terminal;
  const range = active.min === active.max ? `${active.max}` : `${active.min} to ${active.max}`;
  const counts = `${range} calls, ${answered} answered (${answeredPerSecond} a second), ${ended} ended`;
  line(`${bold(phase.padEnd(LABEL_WIDTH))}  ${seconds.toFixed(1)} s  ${counts}`);
  if (failed > 0) {
    const reasons = Object.entries(failures).map(([reason, count]) => `${count} ${reason}`);
    row("failed", bad(`${failed}: ${reasons.join("; ")}`), terminal);
  }
  if (figures.refused === null) {
    row("set-up", percentiles(figures.setupMs), terminal);
    row("response", percentiles(figures.responseMs), terminal);
    row("late", lateness(figures.lateFrames), terminal);
  } else {
    const advice = "fewer calls, more --processes, or a machine of its own";
    row("times", bad(`not given: ${figures.refused}; ${advice}`), terminal);
  }
  const own = `own frames p99 ${load.frameP99Ms} ms late, at most ${load.frameMaxMs} ms, ${percent(load.shareLate)} over ${LATE_MS} ms`;
  row("load", `${own}; event loop p99 ${load.loopDelayP99Ms.toFixed(0)} ms`, terminal);
}

function row(label: string, text: string, terminal: Terminal): void {
  const head = `  ${label.padEnd(LABEL_WIDTH)}`;
  terminal.wrap(text, { head, indent: INDENT });
}

function percentiles(values: Percentiles | null): string {
  if (values === null) return "none";
  return `p50 ${values.p50}, p95 ${values.p95}, p99 ${values.p99} ms (${values.count})`;
}

function lateness(frames: LateFrames | null): string {
  if (frames === null) return "no speech was heard";
  return `p99 ${frames.p99Ms} ms, ${percent(frames.shareLate)} of ${frames.count} frames over ${LATE_MS} ms`;
}

function printDeployment(figures: DeploymentFigures, terminal: Terminal): void {
  const { residentBytes, growth, cores, maxActive, samples, problem } = figures;
  const { bold, line } = terminal;
  line(`${bold("deployment")}  ${samples} samples of ${figures.url}`);
  if (problem !== null) row("metrics", terminal.bad(`the last request failed: ${problem}`), terminal);
  if (residentBytes === null) row("memory", "no process_resident_memory_bytes there", terminal);
  else row("memory", `${megabytes(residentBytes)}, ${describeGrowth(growth)}`, terminal);
  if (cores !== null) row("processor", `${cores.toFixed(2)} cores`, terminal);
  if (maxActive !== null) row("calls", `at most ${maxActive}`, terminal);
}

function describeGrowth(growth: DeploymentFigures["growth"]): string {
  switch (growth.kind) {
    case "too-short":
      return "no slope: a plateau of ten minutes or more gives one (--for 600)";
    case "too-few-samples":
      return "no slope: its readings are too alike; a longer --for gives one";
    case "measured": {
      const sign = growth.bytesPerHour < 0 ? "−" : "+";
      const size = megabytes(Math.abs(growth.bytesPerHour));
      return `${sign}${size} an hour ± ${megabytes(growth.marginBytesPerHour)} (95 %)`;
    }
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function printKnee({ held, bends, because }: Knee, terminal: Terminal): void {
  const { bold, wrap } = terminal;
  const found = bends === null ? `none found up to ${held} calls` : `${held} calls held, ${bends} bent`;
  wrap(`${found}: ${because.join("; ")}`, { head: bold("knee".padEnd(LABEL_WIDTH + 2)), indent: INDENT });
}

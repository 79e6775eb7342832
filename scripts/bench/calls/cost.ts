/** What forwarding a frame takes of a processor, and how many calls one core carries by that. */
import { type Figure, figure } from "@offhook/platform/testing/bench/report";
import { percentile } from "@offhook/platform/testing/bench/statistics";
import { isInTime, type Program, type Run, stream } from "./run.ts";

/** A call has a frame each way every 20 ms. */
const framesPerCallSecond = 100;
/** In real time, so that the programs wake up as often as in production; a load on one core is in time for five times as many. */
const callsASide = 10;

/** The relay, the relay again, the agent, the agent that records, and the agent that exports traces and metrics. */
const sides = ["floor", "control", "agent", "recorded", "traced"] as const;
type SideName = (typeof sides)[number];

/** Processor time a frame, in µs, of all sides at the same time. */
export type CostWindow = Record<SideName, number>;

/** What each side is compared with, and the aim for the ratio. */
const comparisons = [
  { side: "agent", beside: "floor", name: "", aim: 1.1 },
  { side: "recorded", beside: "floor", name: " with a recording", aim: 1.2 },
  { side: "traced", beside: "agent", name: " with traces, beside the agent without", aim: 1.02 },
] as const satisfies readonly { side: SideName; beside: SideName; name: string; aim: number }[];

/** Windows that must have had their load in time for a verdict. */
const enoughWindows = 5;
/** Two relays are the same program: when their ratio is further from one, it is the machine that was measured. */
const controlTolerance = 0.05;

/**
 * All sides at the same time, for a shared machine is now fast, now slow, by a factor of two: in turns, two equal relays
 * differed by up to 18 %. In rounds of new processes, for what sets a process apart stays with it. They warm up for long: in
 * its first seconds, compilation and the garbage of the start are a tenth of what the agent takes.
 */
export async function processorTime(run: Run, recordDir: string, notes: string[]): Promise<Figure[]> {
  const windows: CostWindow[] = [];
  for (let round = 0; round < run.plan.costRounds; round++)
    windows.push(...(await measureRound(run, recordDir, round)));
  return costFigures(windows, run.plan.costRounds * run.plan.costWindows, notes);
}

/** @returns the windows in which the load was in time for all sides: bursts of a late one cost less a frame */
async function measureRound(run: Run, recordDir: string, round: number): Promise<CostWindow[]> {
  const { plan, farEnds, progress } = run;
  const programs: Record<string, Program> = {};
  for (const side of sides) programs[side] = await startSide(run, side, recordDir);
  const started = Object.values(programs);
  // One after another, for a caller is paired with the runtime's next call.
  for (const { voiceUrl } of started) await farEnds.ask("open", { voiceUrl, calls: callsASide });
  const streamAll = (durationMs: number) =>
    Promise.all(started.map((program) => stream(farEnds, program, callsASide, durationMs)));
  const usage = () => Promise.all(started.map(({ child }) => child.ask("cpu", {})));
  await streamAll(plan.costWarmUpMs);
  const windows: CostWindow[] = [];
  for (let window = 0; window < plan.costWindows; window++) {
    const before = await usage();
    const streams = await streamAll(plan.costWindowMs);
    const after = await usage();
    const cost = (side: SideName) => {
      const at = sides.indexOf(side);
      return (((after[at]?.cpuMs ?? 0) - (before[at]?.cpuMs ?? 0)) * 1000) / (streams[at]?.sent ?? 0);
    };
    const costs = {
      floor: cost("floor"),
      control: cost("control"),
      agent: cost("agent"),
      recorded: cost("recorded"),
      traced: cost("traced"),
    };
    const lateMs = Math.max(...streams.map(({ senderLateP99Ms }) => senderLateP99Ms));
    progress(
      `processor time a frame, round ${round + 1} of ${plan.costRounds}: ${sides.map((side) => `${side} ${costs[side].toFixed(1)} µs`).join(", ")} (load late by ${lateMs.toFixed(1)} ms)`,
    );
    if (streams.every(isInTime)) windows.push(costs);
  }
  for (const { voiceUrl, child } of started) {
    await farEnds.ask("hangUp", { voiceUrl });
    await child.stop();
  }
  return windows;
}

/**
 * Starts a process that has answered tool calls, as every agent has after its first minute: before Node 24, the
 * AsyncLocalStorage that a tool runs in makes each frame dearer from then on.
 */
async function startSide(run: Run, side: SideName, recordDir: string): Promise<Program> {
  const { farEnds, startProgram, toolSecret, collectorUrl } = run;
  const program = await startProgram(side === "floor" || side === "control" ? "floor" : "agent", {
    ...(side === "recorded" && { recordDir }),
    ...(side === "traced" && { collectorUrl }),
  });
  const { toolUrl } = program;
  await farEnds.ask("tool", { toolUrl, secret: toolSecret, connections: 1, durationMs: 1 });
  return program;
}

/**
 * The figures of the windows whose load was in time: without a verdict, and without calls a core, when they or the machine
 * do not allow one.
 * @param planned windows in all
 */
export function costFigures(windows: readonly CostWindow[], planned: number, notes: string[]): Figure[] {
  const quantile = (share: number, of: (window: CostWindow) => number) => percentile(windows.map(of), share);
  const median = (of: (window: CostWindow) => number) => (windows.length === 0 ? null : quantile(0.5, of));
  const control = quantile(0.5, (window) => window.control / window.floor);
  const wasInTime = windows.length >= enoughWindows;
  const wasSteady = Math.abs(control - 1) <= controlTolerance;
  const hasVerdict = wasInTime && wasSteady;

  const costs = comparisons.map(({ side, beside, name, aim }) =>
    figure({
      name: `processor time a frame${name}`,
      unit: "µs",
      floor: median((window) => window[beside]),
      measured: median((window) => window[side]),
      value: median((window) => window[side] / window[beside]),
      ...(hasVerdict && { aim: { kind: "at-most", limit: aim } }),
    }),
  );
  // Computed, not reached: the load would be late long before the program.
  const callsACore = (side: SideName) =>
    hasVerdict ? Math.round(1_000_000 / framesPerCallSecond / quantile(0.5, (window) => window[side])) : null;
  const middleHalves = comparisons.map(({ side, beside, name }) => {
    const [from, to] = [0.25, 0.75].map((share) =>
      quantile(share, (window) => window[side] / window[beside]).toFixed(2),
    );
    return `${from}–${to}${name}`;
  });
  if (windows.length > 0)
    notes.push(
      `processor time a frame: medians of ${windows.length} windows of ${callsASide} calls a program, all at the same time, after a tool call; value: the median of each window's ratio, whose middle half is ${middleHalves.join(", ")}. A second relay had ${control.toFixed(2)} of the first.`,
    );
  if (!wasInTime)
    notes.push(
      `The load itself was late in all but ${windows.length} of ${planned} windows: no verdict on processor time, and no calls a core.`,
    );
  else if (!wasSteady)
    notes.push(
      "Two relays are the same program and differed by more than 5 %: the machine had other work, so no verdict on processor time, and no calls a core.",
    );
  else
    notes.push(
      "calls a core: what fits into a second by that, on cores that the other programs keep cold; leave room for bursts.",
    );
  return [
    ...costs,
    figure({
      name: "calls a core",
      unit: "calls",
      floor: callsACore("floor"),
      measured: callsACore("agent"),
      value: null,
    }),
  ];
}

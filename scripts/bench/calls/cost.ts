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
  const programs = await ofEachSide((side) => startSide(run, side, recordDir));
  // One after another, for a caller is paired with the runtime's next call.
  for (const side of sides)
    await farEnds.ask("open", { voiceUrl: programs[side].voiceUrl, calls: callsASide });
  await ofEachSide((side) => stream(farEnds, programs[side], callsASide, plan.costWarmUpMs));
  const windows: CostWindow[] = [];
  for (let window = 0; window < plan.costWindows; window++) {
    let inTime = true;
    const costs = await ofEachSide(async (side) => {
      const { child } = programs[side];
      const before = await child.ask("cpu", {});
      const streamed = await stream(farEnds, programs[side], callsASide, plan.costWindowMs);
      const after = await child.ask("cpu", {});
      inTime &&= isInTime(streamed);
      return ((after.cpuMs - before.cpuMs) * 1000) / streamed.sent;
    });
    const shown = sides.map((side) => `${side} ${costs[side].toFixed(1)} µs`).join(", ");
    progress(
      `processor time a frame, round ${round + 1} of ${plan.costRounds}: ${shown}${inTime ? "" : " (load late)"}`,
    );
    if (inTime) windows.push(costs);
  }
  for (const side of sides) {
    const { voiceUrl, child } = programs[side];
    await farEnds.ask("hangUp", { voiceUrl });
    await child.stop();
  }
  return windows;
}

/** Of all sides at the same time. */
async function ofEachSide<T>(of: (side: SideName) => Promise<T>): Promise<Record<SideName, T>> {
  const [floor, control, agent, recorded, traced] = await Promise.all([
    of("floor"),
    of("control"),
    of("agent"),
    of("recorded"),
    of("traced"),
  ]);
  return { floor, control, agent, recorded, traced };
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

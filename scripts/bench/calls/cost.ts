/** What forwarding a frame takes of a processor, and how many calls one core carries by that. */
import { type Figure, figure } from "@offhook/platform/testing/bench/report";
import { percentile } from "@offhook/platform/testing/bench/statistics";
import { isInTime, type Program, type Run, shown, stream } from "./run.ts";

/** In real time, so that the programs wake up as often as in production; a load on one core is in time for as many. */
const callsAtATime = 40;
/** A call has a frame each way every 20 ms. */
const framesPerCallSecond = 100;

/** The relay, the agent, the agent that records, and the agent that exports traces and metrics. */
const sides = ["floor", "agent", "recorded", "traced"] as const;
type SideName = (typeof sides)[number];

/** Processor time a frame, in µs, of one round of processes. */
export type CostRound = Record<SideName, number>;

/** What each side is compared with, and the aim for the ratio. */
const comparisons = [
  { side: "agent", beside: "floor", name: "", aim: 1.1 },
  { side: "recorded", beside: "floor", name: " with a recording", aim: 1.2 },
  { side: "traced", beside: "agent", name: " with traces, beside the agent without", aim: 1.02 },
] as const satisfies readonly { side: SideName; beside: SideName; name: string; aim: number }[];

/** Rounds that must have had their load in time for a verdict. */
const enoughRounds = 3;
/** The relay does the same in every round: when its quartiles are further apart, the machine is what was measured. */
const steadyRatio = 1.2;

/**
 * All sides in turns, in rounds of new processes: two processes of the same program differ by up to 15 % in what a frame
 * takes, and keep that difference for as long as they live.
 */
export async function processorTime(run: Run, recordDir: string, notes: string[]): Promise<Figure[]> {
  const rounds: CostRound[] = [];
  for (let index = 0; index < run.plan.costRounds; index++) {
    const round = await measureRound(run, recordDir, index);
    if (round !== undefined) rounds.push(round);
  }
  return costFigures(rounds, run.plan.costRounds, notes);
}

/**
 * Of each side the least of its windows, for whatever else runs on the machine only ever adds.
 * @returns `undefined` when the load was late in all windows of a side: bursts cost less a frame
 */
async function measureRound(run: Run, recordDir: string, index: number): Promise<CostRound | undefined> {
  const { plan, farEnds, progress } = run;
  // Each side is the first to start as often as any other.
  const order = sides.map((_, at) => sides[(at + index) % sides.length] ?? "floor");
  const programs = new Map<SideName, Program>();
  for (const side of order) programs.set(side, await startSide(run, side, recordDir));
  const least: CostRound = { floor: Infinity, agent: Infinity, recorded: Infinity, traced: Infinity };
  for (const program of programs.values()) await stream(farEnds, program, callsAtATime, plan.costWarmUpMs);
  for (let turn = 0; turn < plan.costTurns; turn++) {
    for (const [side, program] of turn % 2 === 0 ? programs : [...programs].reverse()) {
      const before = await program.child.ask("cpu", {});
      const window = await stream(farEnds, program, callsAtATime, plan.costWindowMs);
      const after = await program.child.ask("cpu", {});
      const cost = ((after.cpuMs - before.cpuMs) * 1000) / window.sent;
      if (isInTime(window)) least[side] = Math.min(least[side], cost);
      progress(
        `processor time, round ${index + 1} of ${plan.costRounds}, ${side}: ${cost.toFixed(1)} µs a frame, ${shown(window)}`,
      );
    }
  }
  for (const { voiceUrl, child } of programs.values()) {
    await farEnds.ask("hangUp", { voiceUrl });
    await child.stop();
  }
  return sides.every((side) => Number.isFinite(least[side])) ? least : undefined;
}

/**
 * Starts a process that has answered tool calls, as every agent has after its first minute: before Node 24, the
 * AsyncLocalStorage that a tool runs in makes each frame dearer from then on.
 */
async function startSide(run: Run, side: SideName, recordDir: string): Promise<Program> {
  const { farEnds, startProgram, toolSecret, collectorUrl } = run;
  const program = await startProgram(side === "floor" ? "floor" : "agent", {
    ...(side === "recorded" && { recordDir }),
    ...(side === "traced" && { collectorUrl }),
  });
  const { toolUrl } = program;
  await farEnds.ask("tool", { toolUrl, secret: toolSecret, connections: 1, durationMs: 1 });
  return program;
}

/**
 * The figures of the rounds whose load was in time: without a verdict, and without calls a core, when they or the machine
 * do not allow one.
 */
export function costFigures(rounds: readonly CostRound[], planned: number, notes: string[]): Figure[] {
  const quantile = (share: number, of: (round: CostRound) => number) => percentile(rounds.map(of), share);
  const median = (of: (round: CostRound) => number) => (rounds.length === 0 ? null : quantile(0.5, of));
  const low = quantile(0.25, ({ floor }) => floor);
  const high = quantile(0.75, ({ floor }) => floor);
  const wasInTime = rounds.length >= enoughRounds;
  const wasSteady = high / low <= steadyRatio;
  const hasVerdict = wasInTime && wasSteady;

  const costs = comparisons.map(({ side, beside, name, aim }) =>
    figure({
      name: `processor time a frame${name}, ${callsAtATime} calls`,
      unit: "µs",
      floor: median((round) => round[beside]),
      measured: median((round) => round[side]),
      value: median((round) => round[side] / round[beside]),
      ...(hasVerdict && { aim: { kind: "at-most", limit: aim } }),
    }),
  );
  // Computed, not reached: the load would be late long before the program.
  const callsACore = (side: SideName) =>
    hasVerdict ? Math.round(1_000_000 / framesPerCallSecond / quantile(0.5, (round) => round[side])) : null;
  const middleHalves = comparisons.map(({ side, beside, name }) => {
    const [from, to] = [0.25, 0.75].map((share) =>
      quantile(share, (round) => round[side] / round[beside]).toFixed(2),
    );
    return `${from}–${to}${name}`;
  });
  if (rounds.length > 0)
    notes.push(
      `processor time a frame: medians of ${rounds.length} rounds of new processes, each after a tool call; value: the median of each round's ratio, whose middle half is ${middleHalves.join(", ")}.`,
    );
  if (!wasInTime)
    notes.push(
      `The load itself was late in all but ${rounds.length} of ${planned} rounds: no verdict on processor time, and no calls a core.`,
    );
  else if (!wasSteady)
    notes.push(
      `The relay alone took ${low.toFixed(1)} to ${high.toFixed(1)} µs a frame in the middle half of the rounds: the machine had other work, so no verdict on processor time, and no calls a core.`,
    );
  else notes.push("calls a core: what fits into a second by that; leave room for bursts.");
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

/** What forwarding a frame takes of a processor, and how many calls one core carries by that. */
import { type Figure, figure } from "@offhook/platform/testing/bench/report";
import { percentile } from "@offhook/platform/testing/bench/statistics";
import { isInTime, type Program, type Run, shown, stream } from "./run.ts";

/** In real time, so that the programs wake up as often as in production; a load on one core is in time for as many. */
const callsAtATime = 40;
/** A call has a frame each way every 20 ms. */
const framesPerCallSecond = 100;
/** Processor time a frame, as a share of the relay's. */
const aims = { agent: 1.1, recorded: 1.2 };

/** Rounds that must have had their load in time for a verdict. */
const enoughRounds = 3;
/** The relay does the same in every round: when its quartiles are further apart, the machine is what was measured. */
const steadyRatio = 1.2;

/** Processor time a frame, in µs, of one round of all three programs. */
export interface CostRound {
  floor: number;
  agent: number;
  recorded: number;
  /** Whether the load was in time in all of it: bursts of a late one cost less a frame. */
  inTime: boolean;
}

const order = ["floor", "agent", "recorded"] as const;

/**
 * The agent, and the agent that records, beside the relay: each round has all three in turn, with the same neighbours, and
 * every other round in the opposite order.
 */
export async function processorTime(run: Run, recorded: Program, notes: string[]): Promise<Figure[]> {
  const { plan, progress, programs, farEnds } = run;
  const sides = { ...programs, recorded };
  for (const side of order) await stream(farEnds, sides[side], callsAtATime, plan.windowMs);
  const rounds: CostRound[] = [];
  while (rounds.length < plan.costRounds) {
    const round = { floor: 0, agent: 0, recorded: 0, inTime: true };
    for (const side of rounds.length % 2 === 0 ? order : order.toReversed()) {
      const { child } = sides[side];
      const before = await child.ask("cpu", {});
      const window = await stream(farEnds, sides[side], callsAtATime, plan.windowMs);
      const after = await child.ask("cpu", {});
      round[side] = ((after.cpuMs - before.cpuMs) * 1000) / window.sent;
      round.inTime &&= isInTime(window);
      progress(`processor time, ${side}: ${round[side].toFixed(1)} µs a frame, ${shown(window)}`);
    }
    rounds.push(round);
  }
  return costFigures(rounds, notes);
}

/** The figures of these rounds: without a verdict, and without calls a core, when load or machine do not allow one. */
export function costFigures(all: readonly CostRound[], notes: string[]): Figure[] {
  const inTime = all.filter((round) => round.inTime);
  const wasInTime = inTime.length >= enoughRounds;
  const rounds = wasInTime ? inTime : all;
  const quantile = (share: number, of: (round: CostRound) => number) => percentile(rounds.map(of), share);
  const median = (of: (round: CostRound) => number) => quantile(0.5, of);
  const low = quantile(0.25, ({ floor }) => floor);
  const high = quantile(0.75, ({ floor }) => floor);
  const wasSteady = high / low <= steadyRatio;
  const hasVerdict = wasInTime && wasSteady;

  const cost = (name: string, side: "agent" | "recorded") =>
    figure({
      name: `processor time a frame${name}, ${callsAtATime} calls`,
      unit: "µs",
      floor: median(({ floor }) => floor),
      measured: median((round) => round[side]),
      value: median((round) => round[side] / round.floor),
      ...(hasVerdict && { aim: { kind: "at-most", limit: aims[side] } }),
    });
  // Computed, not reached: the load would be late long before the program.
  const callsACore = (side: "floor" | "agent") =>
    hasVerdict ? Math.round(1_000_000 / framesPerCallSecond / median((round) => round[side])) : null;
  const middleHalf = (side: "agent" | "recorded") =>
    [0.25, 0.75].map((share) => quantile(share, (round) => round[side] / round.floor).toFixed(2)).join("–");
  notes.push(
    `processor time a frame: medians of ${rounds.length} rounds; value: the median of each round's ratio to the relay, whose middle half is ${middleHalf("agent")}, with a recording ${middleHalf("recorded")}.`,
  );
  if (!wasInTime)
    notes.push(
      `The load itself was late in all but ${inTime.length} of ${all.length} rounds: no verdict on processor time, and no calls a core.`,
    );
  else if (!wasSteady)
    notes.push(
      `The relay alone took ${low.toFixed(1)} to ${high.toFixed(1)} µs a frame in the middle half of the rounds: the machine had other work, so no verdict on processor time, and no calls a core.`,
    );
  else notes.push("calls a core: what fits into a second by that; leave room for bursts.");
  return [
    cost("", "agent"),
    cost(" with a recording", "recorded"),
    figure({
      name: "calls a core",
      unit: "calls",
      floor: callsACore("floor"),
      measured: callsACore("agent"),
      value: null,
    }),
  ];
}

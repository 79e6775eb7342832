/** What forwarding a frame takes of a processor, and how many calls one core carries by that. */
import { type Figure, figure } from "@offhook/platform/testing/bench/report";
import { percentile } from "@offhook/platform/testing/bench/statistics";
import { isUndisturbed, type Program, type Run, shown, stream } from "./run.ts";

/** The level that the aims are stated for: in real time, so that the programs wake up as often as in production. */
const callsAtATime = 100;
/** A call has a frame each way every 20 ms. */
const framesPerCallSecond = 100;
/** Processor time a frame, as a share of the relay's. */
const aims = { agent: 1.1, recorded: 1.2 };

/** Rounds that must be undisturbed for a verdict. */
const enoughRounds = 3;

/** Processor time a frame, in µs. */
interface Round {
  floor: number;
  agent: number;
  recorded: number;
}

/**
 * The agent, and the agent that records, beside the relay: each round has all three in turn, with the same neighbours. A
 * load that is late sends bursts, which cost less a frame, so a round counts only if the load was in time in all of it.
 */
export async function processorTime(run: Run, recorded: Program, notes: string[]): Promise<Figure[]> {
  const { plan, progress, programs } = run;
  const all: Round[] = [];
  const undisturbed: Round[] = [];
  for (const program of [programs.floor, programs.agent, recorded]) {
    await stream(run.farEnds, program, callsAtATime, plan.windowMs);
  }
  while (all.length < plan.costRounds) {
    let wasInTime = true;
    const spent = async (program: Program, label: keyof Round) => {
      const before = await program.child.ask("cpu", {});
      const window = await stream(run.farEnds, program, callsAtATime, plan.windowMs);
      const after = await program.child.ask("cpu", {});
      const micros = ((after.cpuMs - before.cpuMs) * 1000) / window.sent;
      wasInTime &&= isUndisturbed(window);
      progress(`processor time, ${label}: ${micros.toFixed(1)} µs a frame, ${shown(window)}`);
      return micros;
    };
    const round = {
      floor: await spent(programs.floor, "floor"),
      agent: await spent(programs.agent, "agent"),
      recorded: await spent(recorded, "recorded"),
    };
    all.push(round);
    if (wasInTime) undisturbed.push(round);
  }
  const hasVerdict = undisturbed.length >= enoughRounds;
  const rounds = hasVerdict ? undisturbed : all;
  const median = (of: (round: Round) => number) => percentile(rounds.map(of), 0.5);
  const cost = (name: string, side: "agent" | "recorded") =>
    figure({
      name: `processor time a frame${name}, ${callsAtATime} calls`,
      unit: "µs",
      floor: median((round) => round.floor),
      measured: median((round) => round[side]),
      value: median((round) => round[side] / round.floor),
      ...(hasVerdict && { aim: { kind: "at-most", limit: aims[side] } }),
    });
  // Computed, not reached: the load would be late long before the program.
  const callsACore = (side: "floor" | "agent") =>
    hasVerdict ? Math.round(1_000_000 / framesPerCallSecond / median((round) => round[side])) : null;
  notes.push(
    hasVerdict
      ? `processor time a frame: medians of ${rounds.length} rounds; value: the median of each round's ratio to the relay. calls a core: what fits into a second by that; leave room for bursts.`
      : `The load itself was late in all but ${undisturbed.length} of ${all.length} rounds: no verdict on processor time, and no calls a core.`,
  );
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

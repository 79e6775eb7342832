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

interface Round {
  floor: number;
  agent: number;
  recorded: number;
}

/** The agent, and the agent that records, beside the relay: each round has all three in turn, with the same neighbours. */
export async function processorTime(run: Run, recorded: Program, notes: string[]): Promise<Figure[]> {
  const { plan, progress, programs } = run;
  const rounds: Round[] = [];
  let disturbed = 0;
  for (const program of [programs.floor, programs.agent, recorded]) {
    await stream(run.farEnds, program, callsAtATime, plan.windowMs);
  }
  for (let round = 1; round <= plan.costRounds; round++) {
    const spent = async (program: Program, label: keyof Round) => {
      const before = await program.child.ask("cpu", {});
      const window = await stream(run.farEnds, program, callsAtATime, plan.windowMs);
      const after = await program.child.ask("cpu", {});
      const micros = ((after.cpuMs - before.cpuMs) * 1000) / window.sent;
      if (!isUndisturbed(window)) disturbed++;
      progress(`processor time, ${label}: ${micros.toFixed(1)} µs a frame, ${shown(window)}`);
      return micros;
    };
    rounds.push({
      floor: await spent(programs.floor, "floor"),
      agent: await spent(programs.agent, "agent"),
      recorded: await spent(recorded, "recorded"),
    });
  }
  const median = (of: (round: Round) => number) => percentile(rounds.map(of), 0.5);
  const floor = median((round) => round.floor);
  const cost = (name: string, side: "agent" | "recorded") =>
    figure({
      name: `processor time a frame${name}, ${callsAtATime} calls`,
      unit: "µs",
      floor,
      measured: median((round) => round[side]),
      value: median((round) => round[side] / round.floor),
      aim: { kind: "at-most", limit: aims[side] },
    });
  notes.push(
    "processor time a frame: medians of the rounds; value: the median of each round's ratio to the relay.",
  );
  return [cost("", "agent"), cost(" with a recording", "recorded"), callsACore(rounds, disturbed, notes)];
}

/** Computed, not reached: the load would be late long before the program. Nothing when the load was late even so. */
function callsACore(rounds: Round[], disturbed: number, notes: string[]): Figure {
  const isGiven = disturbed <= rounds.length;
  const calls = (side: "floor" | "agent") =>
    isGiven
      ? Math.round(
          1_000_000 /
            framesPerCallSecond /
            percentile(
              rounds.map((round) => round[side]),
              0.5,
            ),
        )
      : null;
  notes.push(
    isGiven
      ? "calls a core: a second divided by the processor time of a call's frames in it; leave room for garbage collection and bursts."
      : `No calls a core: the load itself was late in ${disturbed} of ${rounds.length * 3} windows.`,
  );
  return figure({
    name: "calls a core",
    unit: "calls",
    floor: calls("floor"),
    measured: calls("agent"),
    value: null,
  });
}

/** How long a frame is under way. */
import { type Figure, figure } from "@offhook/platform/testing/bench/report";
import type { StreamFigures } from "./questions.ts";
import { both, isUndisturbed, type Run, type Side, shown, stream } from "./run.ts";

/** The level that the aim is stated for. */
const aimCalls = 100;
const aimAddedMs = 1;

const tooBusy = `The far ends themselves were late in each window of ${aimCalls} calls: no verdict on delay.`;

export async function forwarding(run: Run, notes: string[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const calls of run.plan.levels) {
    const windows: Side<StreamFigures[]> = { floor: [], agent: [] };
    const isQuiet = (name: keyof Side<unknown>) => windows[name].some(isUndisturbed);
    const settled = () => isQuiet("floor") && isQuiet("agent");
    for (let round = 0; round < run.plan.rounds || (round < run.plan.rounds * 2 && !settled()); round++) {
      for (const program of both(run.programs)) {
        const window = await stream(run.farEnds, program, calls, run.plan.windowMs);
        windows[program.name].push(window);
        run.progress(`${calls} calls, ${program.name}: ${shown(window)}`);
      }
    }
    const side = (name: keyof Side<unknown>, member: "p50Ms" | "p99Ms") =>
      least(
        (isQuiet(name) ? windows[name].filter(isUndisturbed) : windows[name]).map((window) => window[member]),
      );
    const hasVerdict = calls === aimCalls && settled();
    if (calls === aimCalls && !hasVerdict) notes.push(tooBusy);
    for (const member of ["p50Ms", "p99Ms"] as const) {
      const [floor, agent] = [side("floor", member), side("agent", member)];
      figures.push(
        figure({
          name: `forwarding delay ${member.slice(0, 3)}, ${calls} calls`,
          unit: "ms",
          floor,
          measured: agent,
          value: agent - floor,
          ...(member === "p99Ms" && hasVerdict && { aim: { kind: "at-most", limit: aimAddedMs } }),
        }),
      );
    }
  }
  return figures;
}

/** The least disturbed window says most about a program: whatever else runs on the machine only ever adds. */
function least(values: number[]): number {
  return Math.min(...values);
}

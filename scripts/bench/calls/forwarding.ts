/** How long a frame is under way, and what forwarding it costs. */
import { type Figure, figure } from "@offhook/platform/testing/bench/report";
import type { StreamFigures } from "./questions.ts";
import { both, type Program, type Run, type Side, shown, stream } from "./run.ts";

/** The level that the aim is stated for. */
const aimCalls = 100;
const aimAddedMs = 1;

/** Far ends that send later than this measure the machine's other work. */
const disturbedMs = 10;
const tooBusy = `The far ends themselves were more than ${disturbedMs} ms late in each window of ${aimCalls} calls: no verdict on delay.`;

type Window = StreamFigures & { cpuMicrosPerFrame: number };

export async function forwarding(run: Run, notes: string[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const calls of run.plan.levels) {
    const windows: Side<Window[]> = { floor: [], agent: [] };
    const isQuiet = (name: Program["name"]) => windows[name].some(undisturbed);
    const settled = () => isQuiet("floor") && isQuiet("agent");
    for (let round = 0; round < run.plan.rounds || (round < run.plan.rounds * 2 && !settled()); round++) {
      for (const program of both(run.programs)) {
        const window = await timedWindow(run, program, calls);
        windows[program.name].push(window);
        run.progress(
          `${calls} calls, ${program.name}: ${shown(window)}, ${window.cpuMicrosPerFrame.toFixed(1)} µs of processor a frame`,
        );
      }
    }
    const side = (name: Program["name"], member: "p50Ms" | "p99Ms" | "cpuMicrosPerFrame") =>
      least(
        (isQuiet(name) ? windows[name].filter(undisturbed) : windows[name]).map((window) => window[member]),
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
    const [floor, agent] = [side("floor", "cpuMicrosPerFrame"), side("agent", "cpuMicrosPerFrame")];
    const name = `processor time a frame, ${calls} calls`;
    figures.push(figure({ name, unit: "µs", floor, measured: agent, value: agent - floor }));
  }
  return figures;
}

function undisturbed(window: Window): boolean {
  return window.senderLateMs <= disturbedMs;
}

/** The least disturbed window says most about a program: whatever else runs on the machine only ever adds. */
function least(values: number[]): number {
  return Math.min(...values);
}

async function timedWindow({ plan, farEnds }: Run, program: Program, calls: number): Promise<Window> {
  await farEnds.ask("open", { voiceUrl: program.voiceUrl, calls });
  const before = await program.child.ask("cpu", {});
  const window = await stream(farEnds, program, calls, plan.windowMs);
  const after = await program.child.ask("cpu", {});
  return { ...window, cpuMicrosPerFrame: ((after.cpuMs - before.cpuMs) * 1000) / window.sent };
}

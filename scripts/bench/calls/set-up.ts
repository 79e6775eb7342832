/** How long a call takes to be there, beyond what the runtime itself takes. */
import { type Figure, figure } from "@offhook/platform/testing/bench/report";
import { percentile } from "@offhook/platform/testing/bench/statistics";
import { both, type Run, type Side } from "./run.ts";

const warmUps = 10;
const turns = 3;
/** The rate that the aim is stated for, and the aim. */
const perSecond = 75;
const aimMs = 5;

export async function setUpTime({ plan, progress, farEnds, programs }: Run): Promise<Figure[]> {
  progress(`call set-up: ${plan.setUps} calls one after another`);
  const times: Side<number[]> = { floor: [], agent: [] };
  for (const { voiceUrl } of both(programs)) await farEnds.ask("setUp", { voiceUrl, calls: warmUps });
  for (let turn = 0; turn < turns; turn++) {
    for (const { name, voiceUrl } of both(programs)) {
      const { beyondRuntimeMs } = await farEnds.ask("setUp", { voiceUrl, calls: plan.setUps / turns });
      times[name].push(...beyondRuntimeMs);
    }
  }
  return [0.5, 0.99].map((share) => {
    const [floor, agent] = [percentile(times.floor, share), percentile(times.agent, share)];
    const name = `set-up beyond the runtime's own, p${share * 100}`;
    return figure({ name, unit: "ms", floor, measured: agent, value: agent - floor });
  });
}

/** Set-ups that begin at a fixed rate, whether or not those before are done, and what one takes of a processor. */
export async function setUpAtRate(
  { plan, progress, farEnds, programs }: Run,
  notes: string[],
): Promise<Figure[]> {
  const rounds: Side<{ p95Ms: number; cpuMs: number }[]> = { floor: [], agent: [] };
  let lateMs = 0;
  for (let turn = 0; turn < turns; turn++) {
    for (const { name, voiceUrl, child } of both(programs)) {
      const before = await child.ask("cpu", {});
      const window = await farEnds.ask("setUpAtRate", { voiceUrl, calls: plan.rateSetUps, perSecond });
      const after = await child.ask("cpu", {});
      const round = {
        p95Ms: percentile(window.beyondRuntimeMs, 0.95),
        cpuMs: (after.cpuMs - before.cpuMs) / plan.rateSetUps,
      };
      lateMs = Math.max(lateMs, window.senderLateMs);
      rounds[name].push(round);
      progress(
        `${perSecond} set-ups/s, ${name}: p95 ${round.p95Ms.toFixed(2)} ms, ${round.cpuMs.toFixed(2)} ms of processor each (load late by ${window.senderLateMs.toFixed(1)} ms at most)`,
      );
    }
  }
  notes.push(
    `${perSecond} set-ups/s: the least disturbed of ${turns} turns; the load dialled ${lateMs.toFixed(1)} ms late at most.`,
  );
  const least = (side: keyof Side<unknown>, member: "p95Ms" | "cpuMs") =>
    Math.min(...rounds[side].map((round) => round[member]));
  const [floor, agent] = [least("floor", "p95Ms"), least("agent", "p95Ms")];
  const [floorCpu, agentCpu] = [least("floor", "cpuMs"), least("agent", "cpuMs")];
  return [
    figure({
      name: `set-up beyond the runtime's own at ${perSecond}/s, p95`,
      unit: "ms",
      floor,
      measured: agent,
      value: agent,
      aim: { kind: "at-most", limit: aimMs },
    }),
    figure({
      name: "processor time a set-up and hang-up",
      unit: "ms",
      floor: floorCpu,
      measured: agentCpu,
      value: agentCpu - floorCpu,
    }),
  ];
}

/** How long a call takes to be there, beyond what the runtime itself takes. */
import { type Figure, figure } from "@offhook/platform/testing/bench/report";
import { percentile } from "@offhook/platform/testing/bench/statistics";
import { both, type Run, type Side } from "./run.ts";

const warmUps = 10;
const turns = 3;

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

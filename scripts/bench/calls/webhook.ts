/** `/tool` beside a bare express handler that does the same JSON work. */
import { type Figure, figure } from "@offhook/platform/testing/bench/report";
import type { ToolFigures } from "./questions.ts";
import { both, type Run, type Side } from "./run.ts";

const connections = 16;
const warmUpMs = 300;
const aimShare = 0.8;

type Round = ToolFigures & { cpuMicrosPerRequest: number };

export async function toolWebhook({ plan, progress, farEnds, programs, toolSecret }: Run): Promise<Figure[]> {
  const rounds: Side<Round[]> = { floor: [], agent: [] };
  for (const { toolUrl } of both(programs)) {
    await farEnds.ask("tool", { toolUrl, secret: toolSecret, connections, durationMs: warmUpMs });
  }
  for (let round = 0; round < plan.rounds; round++) {
    for (const { name, toolUrl, child } of both(programs)) {
      const ask = { toolUrl, secret: toolSecret, connections, durationMs: plan.toolWindowMs };
      const before = await child.ask("cpu", {});
      const answer = await farEnds.ask("tool", ask);
      const after = await child.ask("cpu", {});
      const cpuMicrosPerRequest = ((after.cpuMs - before.cpuMs) * 1000) / answer.requests;
      rounds[name].push({ ...answer, cpuMicrosPerRequest });
      progress(
        `/tool, ${name}: ${Math.round(answer.requestsPerSecond)} requests/s, p99 ${answer.p99Ms.toFixed(2)} ms`,
      );
    }
  }
  const rate = (side: Round[]) => Math.round(Math.max(...side.map((round) => round.requestsPerSecond)));
  const least = (side: Round[], member: "p99Ms" | "cpuMicrosPerRequest") =>
    Math.min(...side.map((round) => round[member]));
  const [floor, agent] = [rate(rounds.floor), rate(rounds.agent)];
  const [floorP99, agentP99] = [least(rounds.floor, "p99Ms"), least(rounds.agent, "p99Ms")];
  const [floorCpu, agentCpu] = [
    least(rounds.floor, "cpuMicrosPerRequest"),
    least(rounds.agent, "cpuMicrosPerRequest"),
  ];
  const aim = { kind: "at-least", limit: aimShare } as const;
  return [
    figure({ name: "/tool", unit: "requests/s", floor, measured: agent, value: null }),
    figure({
      name: "… share of bare express",
      unit: "ratio",
      floor: null,
      measured: null,
      value: agent / floor,
      aim,
    }),
    figure({
      name: "/tool p99",
      unit: "ms",
      floor: floorP99,
      measured: agentP99,
      value: agentP99 - floorP99,
    }),
    figure({
      name: "processor time a request",
      unit: "µs",
      floor: floorCpu,
      measured: agentCpu,
      value: agentCpu - floorCpu,
    }),
  ];
}

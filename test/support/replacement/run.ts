/** Replaces three agents one after another behind a load balancer while calls come and go. */
import { setTimeout as wait } from "node:timers/promises";
import { Command } from "../command.ts";
import { StandInRuntime } from "../stand-in-runtime.ts";
import { type Backend, Balancer } from "./balancer.ts";
import { type CallEnd, placeCall } from "./caller.ts";

const AGENTS = 3;

export interface ReplacementPlan {
  /** Calls to place at least; more come while agents are still being replaced. */
  calls: number;
  /** From one call to the next. */
  apartMs: number;
  callMs: number;
  /** SHUTDOWN_DELAY_MS of the agents. */
  shutdownDelayMs: number;
  /** AGENT_WORKERS of the agents. */
  workers: number;
}

export interface ReplacementReport {
  ends: CallEnd[];
  /** Connections that the balancer could pass to no agent. */
  failedConnections: number;
  /** Of each agent that was replaced. */
  replaced: { callsWhenStopped: number; connectionsSinceStopped: number; exitCode: number | null }[];
  /** Calls that the runtime still has. */
  openAtRuntime: number;
  mostAtOnce: number;
  durationMs: number;
}

interface RunningAgent {
  command: Command;
  backend: Backend;
}

export async function replaceUnderCalls(plan: ReplacementPlan): Promise<ReplacementReport> {
  const runtime = await StandInRuntime.start();
  runtime.onOpen = ({ socket }) =>
    socket.on("message", (data, isBinary) => {
      if (isBinary) socket.send(data);
    });
  const balancer = await Balancer.start();
  const commands: Command[] = [];

  async function startAgent(): Promise<RunningAgent> {
    const command = new Command("../agent/main.ts", [], {
      VAPI_API_KEY: "key",
      VOICE_API_URL: runtime.url,
      PORT: "0",
      NODE_ENV: "production",
      AGENT_WORKERS: String(plan.workers),
      SHUTDOWN_DELAY_MS: String(plan.shutdownDelayMs),
      DRAIN_TIMEOUT_MS: String(plan.callMs + plan.shutdownDelayMs + 10_000),
    });
    commands.push(command);
    const output = await command.output(/agent listens on \S+"/);
    const url = /"url":"([^"]+)"/.exec(output)?.[1] ?? "";
    return { command, backend: await balancer.add(url) };
  }

  async function stopAgent({ command, backend }: RunningAgent) {
    await balancer.nextRound();
    backend.sinceStopped = 0;
    command.interrupt("SIGTERM");
    const output = await command.output(/agent stops/);
    const callsWhenStopped = Number(/"calls":(\d+),"msg":"agent stops/.exec(output)?.[1]);
    const { exitCode } = await command.finished();
    return { callsWhenStopped, connectionsSinceStopped: backend.sinceStopped, exitCode };
  }

  /** Each agent is told to stop once its successor is ready, and the next successor starts at once. */
  async function replaceAll(agents: RunningAgent[]) {
    const stopping = [];
    for (const agent of agents) {
      await startAgent();
      stopping.push(stopAgent(agent));
    }
    return Promise.all(stopping);
  }

  try {
    const agents = await Promise.all(Array.from({ length: AGENTS }, startAgent));
    const startedAt = performance.now();
    const calls: Promise<CallEnd>[] = [];
    let atOnce = 0;
    let mostAtOnce = 0;
    async function call(): Promise<CallEnd> {
      atOnce += 1;
      mostAtOnce = Math.max(mostAtOnce, atOnce);
      const end = await placeCall(balancer.url, plan.callMs);
      atOnce -= 1;
      return end;
    }
    let isReplaced = false;
    // The first agent stops in the midst of calls.
    const replacing = wait(plan.callMs)
      .then(() => replaceAll(agents))
      .finally(() => {
        isReplaced = true;
      });
    while (calls.length < plan.calls || !isReplaced) {
      calls.push(call());
      await wait(plan.apartMs);
    }
    const [ends, replaced] = await Promise.all([Promise.all(calls), replacing]);
    await runtime.until(() => runtime.openSockets === 0, "the end of all calls at the runtime");
    return {
      ends,
      failedConnections: balancer.failed,
      replaced,
      openAtRuntime: runtime.openCalls.length,
      mostAtOnce,
      durationMs: performance.now() - startedAt,
    };
  } finally {
    for (const command of commands) command.interrupt("SIGKILL");
    balancer.stop();
    await runtime.stop();
  }
}

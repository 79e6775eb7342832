/** Twins and agent together in this process, on free ports: what the demo and the replay tests call. */
import { type Logger, pino } from "pino";
import { readConfig } from "../../agent/config.ts";
import { type RunningAgent, startAgent } from "../../agent/server.ts";
import { type RunningTwins, startTwins } from "../../twins/sandbox/start.ts";

export interface House {
  twins: RunningTwins;
  agent: RunningAgent;
  /** The agent's voice channel. */
  voiceUrl: string;
  /** Ends running calls and stops both; nothing stays behind. */
  stop(): Promise<void>;
}

export interface HouseOptions {
  /** Default: silent. */
  log?: Logger;
  /** Called when a part is up. */
  onStarted?(what: string, where: string, tookMs: number): void;
}

/** Calls still open when the house stops are not waited for. */
const DRAIN_TIMEOUT_MS = "0";

/** Takes nothing from the environment. @throws when a part does not start; what had started is stopped */
export async function startHouse({
  log = pino({ level: "silent" }),
  onStarted,
}: HouseOptions = {}): Promise<House> {
  const beganAt = performance.now();
  const twins = await startTwins({ log: log.child({ part: "twins" }) });
  const upAt = performance.now();
  const names = twins.sandboxes.flatMap((sandbox) => sandbox.twins.map(({ name }) => name));
  onStarted?.(`twins (${names.join(", ")})`, twins.baseUrl, upAt - beganAt);
  try {
    const environment = { ...clientEnvironment(twins), PORT: "0", DRAIN_TIMEOUT_MS };
    const agent = await startAgent(readConfig(environment), { log: log.child({ part: "agent" }) });
    onStarted?.("agent", agent.url, performance.now() - upAt);
    return {
      twins,
      agent,
      voiceUrl: `${agent.url.replace(/^http/, "ws")}/voice`,
      stop: async () => {
        await agent.stop();
        await twins.stop();
      },
    };
  } catch (error) {
    await twins.stop();
    throw error;
  }
}

/** The variables by which an agent finds the twins of a sandbox. */
export function clientEnvironment({ sandboxes }: Pick<RunningTwins, "sandboxes">): Record<string, string> {
  return Object.assign({}, ...(sandboxes[0]?.twins ?? []).map(({ environment }) => environment));
}

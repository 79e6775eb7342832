/** Runs twins and agents in this process, on free ports, for the demo and the replay tests. */

import { createSandbox } from "@offhook/caller/own-sandbox";
import { type SandboxAddress, SandboxClient } from "@offhook/caller/sandbox-client";
import { requireOwnFolder } from "@offhook/platform/server/locator";
import type { RunningTwins } from "@offhook/platform/server/start";
import type { Telemetry as TwinsTelemetry } from "@offhook/platform/telemetry/telemetry";
import { type Logger, pino } from "pino";
import { readConfig } from "../../agent/config.ts";
import { type AgentOptions, type RunningAgent, startAgent } from "../../agent/server.ts";
import type { Telemetry as AgentTelemetry } from "../../agent/telemetry/telemetry.ts";
import { startProjectTwins } from "../../twins/start.ts";
import { clientEnvironment } from "./client-environment.ts";
import { DATASETS_FOLDER, PROJECT } from "./folders.ts";

/** One sandbox, and an agent connected to its twins. */
export interface Stage {
  /** The sandbox's id. */
  id: string;
  sandbox: SandboxClient;
  agent: RunningAgent;
  /** The agent's voice channel. */
  voiceUrl: string;
  /** Ends running calls, stops the agent, and deletes the sandbox if it was created for this stage. */
  close(): Promise<void>;
}

export interface House {
  twins: RunningTwins;
  /** Starts an agent on a new sandbox. */
  openStage(): Promise<Stage>;
  /** Starts an agent on the first sandbox, which always exists. */
  openFirstStage(): Promise<Stage>;
  /** Closes the open stages and stops the twins. */
  stop(): Promise<void>;
}

/** Telemetry of the parts, each a service of its own. */
export interface HouseTelemetry {
  twins: TwinsTelemetry;
  agent: AgentTelemetry;
}

export interface HouseOptions {
  /** Default: silent. */
  log?: Logger;
  /** Called with each step of the start. */
  onProgress?(what: string): void;
  /** Further environment variables of the agents. */
  agentVariables?: Record<string, string>;
  /** Started by whoever runs the house, who stops them after it. Default: off. */
  telemetry?: HouseTelemetry;
  /** Called when a part has started. */
  onStarted?(what: string, where: string, tookMs: number): void;
}

/** Sandboxes end with this process; a kept demo may be looked at for long. */
const SANDBOX_TTL_SECONDS = 86_400;
/** A closing stage does not wait for open calls. */
const DRAIN_TIMEOUT_MS = "0";

/** Reads no environment variables. @throws when the twins do not start */
export async function startHouse({
  log = pino({ level: "silent" }),
  onProgress = () => undefined,
  agentVariables = {},
  onStarted = () => undefined,
  telemetry,
}: HouseOptions = {}): Promise<House> {
  const beganAt = performance.now();
  await requireOwnFolder(PROJECT);
  /** The agent of the sandbox `dev`, for which the console shows the twins' voice channels. */
  let firstAgent: Promise<Stage> | undefined;
  const findChannels = async () => {
    const stage = await firstAgent?.catch(() => undefined);
    return stage ? [{ type: "voice_ws" as const, url: stage.voiceUrl, protocol: "binary" as const }] : [];
  };
  const twins = await startProjectTwins({
    channels: findChannels,
    log: log.child({ part: "twins" }),
    datasetFolder: DATASETS_FOLDER,
    ...(telemetry === undefined ? {} : { telemetry: telemetry.twins }),
    onProgress,
  });
  const names = twins.sandboxes.flatMap((sandbox) => sandbox.twins.map(({ name }) => name));
  onStarted(`twins (${names.join(", ")})`, twins.baseUrl, performance.now() - beganAt);
  const { baseUrl, apiKey } = twins;
  const described = twins.agentEnvironment("");
  const stages = new Set<Promise<Stage>>();
  let stopped: Promise<void> | undefined;

  /** Registers a stage while it is still opening, so that `stop` closes it too. */
  function track(opening: Promise<Stage>): Promise<Stage> {
    stages.add(opening);
    opening.catch(() => stages.delete(opening));
    return opening;
  }

  async function open(
    address: Required<SandboxAddress>,
    environment: Record<string, string>,
    end: () => Promise<void>,
  ) {
    const openedAt = performance.now();
    try {
      const stage = await startStage(address, { ...described, ...environment, ...agentVariables }, end, {
        log: log.child({ part: "agent" }),
        ...(telemetry === undefined ? {} : { telemetry: telemetry.agent }),
      });
      onStarted(`agent of sandbox ${stage.id}`, stage.agent.url, performance.now() - openedAt);
      return stage;
    } catch (error) {
      await end();
      throw error;
    }
  }

  async function openOwn(): Promise<Stage> {
    const { address, environment, remove } = await createSandbox({ baseUrl, apiKey }, SANDBOX_TTL_SECONDS);
    return open(address, environment, remove);
  }

  async function stop(): Promise<void> {
    const open = await Promise.allSettled([...stages]);
    await Promise.all(open.map(async (stage) => stage.status === "fulfilled" && stage.value.close()));
    await twins.stop();
  }

  return {
    twins,
    openStage: () => track(openOwn()),
    openFirstStage: () => {
      const address = { baseUrl, apiKey, sandbox: "dev" };
      firstAgent = track(open(address, clientEnvironment(twins), async () => undefined));
      return firstAgent;
    },
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

async function startStage(
  address: Required<SandboxAddress>,
  environment: Record<string, string>,
  end: () => Promise<void>,
  observed: Pick<AgentOptions, "log" | "telemetry">,
): Promise<Stage> {
  const agent = await startAgent(readConfig({ ...environment, PORT: "0", DRAIN_TIMEOUT_MS }), {
    ...observed,
    environment,
  });
  try {
    const sandbox = await SandboxClient.connect(address);
    let closed: Promise<void> | undefined;
    const close = async () => {
      sandbox.close();
      await agent.stop();
      await end();
    };
    return {
      id: address.sandbox,
      sandbox,
      agent,
      voiceUrl: `${agent.url.replace(/^http/, "ws")}/voice`,
      close: () => {
        closed ??= close();
        return closed;
      },
    };
  } catch (error) {
    await agent.stop();
    throw error;
  }
}

/** An agent on a free port, bridged to a stand-in runtime. */

import { type CapturedLog, captureLog } from "@offhook/platform/testing/log-lines";
import { z } from "zod";
import { type Config, readConfig } from "../../agent/config.ts";
import { type RunningAgent, startAgent } from "../../agent/server.ts";
import { registryOf, type ToolRegistry } from "../../tools/registry.ts";
import { defineTool } from "../../tools/tool.ts";
import { type StandInCall, StandInRuntime } from "./stand-in-runtime.ts";
import { VoiceClient, type VoiceClientOptions } from "./voice-client.ts";

/** The key the agent has for the runtime; must never be seen in a log. */
export const API_KEY = "key-that-must-stay-secret";

/** What the webhook answered. */
interface ToolAnswer {
  status: number;
  results: { toolCallId: string; result: string }[];
}

export interface AgentBench {
  agent: RunningAgent;
  runtime: StandInRuntime;
  captured: CapturedLog;
  /** Connects a caller and waits until it is bridged. */
  call(options?: VoiceClientOptions): Promise<{ client: VoiceClient; runtimeCall: StandInCall }>;
  /** A request to the agent's tool webhook as the runtime would send it. */
  postTools(call: StandInCall, body: unknown, headers?: Record<string, string>): Promise<ToolAnswer>;
  /** A GET request to the agent. */
  get(path: string): Promise<{ status: number; body: string }>;
  /** Waits until the agent has no call any more. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

const toolAnswerSchema = z.strictObject({
  results: z.array(z.strictObject({ toolCallId: z.string(), result: z.string() })),
});

const echo = defineTool({
  name: "echo",
  description: "Says what it is told.",
  parameters: z.object({ text: z.string() }),
  run: async ({ text }) => ({ text }),
});

export interface AgentBenchOptions {
  /** Environment variables besides those that make the agent find the stand-in. */
  env?: Record<string, string>;
  config?: Partial<Config>;
  tools?: ToolRegistry;
  /** Makes the agent take the runtime for one on another machine. */
  remoteRuntime?: boolean;
}

/** Starts both; `await using` or `stop()` ends them. */
export async function startAgentBench({
  env = {},
  config = {},
  tools,
  remoteRuntime = false,
}: AgentBenchOptions = {}): Promise<AgentBench> {
  const runtime = await StandInRuntime.start();
  const captured = captureLog();
  const agent = await startAgent(
    {
      ...readConfig({
        PORT: "0",
        VAPI_API_KEY: API_KEY,
        // 0.0.0.0 leads to this machine, but does not say so.
        VOICE_API_URL: remoteRuntime ? runtime.url.replace("127.0.0.1", "0.0.0.0") : runtime.url,
        DRAIN_TIMEOUT_MS: "0",
        ...env,
      }),
      ...config,
    },
    { log: captured.log, tools: tools ?? registryOf([{ tool: echo }]), environment: env },
  );
  let calls = 0;
  return {
    agent,
    runtime,
    captured,
    async call(options) {
      const client = await VoiceClient.connect(agent.url, options);
      const runtimeCall = await runtime.call(calls);
      calls += 1;
      await runtimeCall.connected();
      return { client, runtimeCall };
    },
    async postTools(call, body, headers = {}) {
      const response = await fetch(`${agent.url}/tool`, {
        method: "POST",
        headers: { "content-type": "application/json", ...call.webhook.headers, ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      const { results } = toolAnswerSchema.parse(await response.json());
      return { status: response.status, results };
    },
    async get(path) {
      const response = await fetch(`${agent.url}${path}`);
      return { status: response.status, body: await response.text() };
    },
    idle: () => agent.idle(),
    async stop() {
      await agent.stop();
      await runtime.stop();
    },
  };
}

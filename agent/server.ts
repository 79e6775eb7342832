/** The agent as one HTTP application: `/voice` for callers, `/tool` for the runtime, health and metrics. */
import { randomBytes, randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import type { Logger } from "pino";
import { loadTools, type ToolRegistry } from "../tools/registry.ts";
import { describeAssistant, type ToolWebhook } from "./assistant.ts";
import { Call } from "./call/call.ts";
import { CallRegister } from "./call/call-register.ts";
import { RuntimeApi } from "./call/runtime-api.ts";
import type { Config } from "./config.ts";
import { openDatabase } from "./database.ts";
import { AgentMetrics } from "./metrics.ts";
import { elsewhere, probes } from "./probes.ts";
import { publicUrlFor } from "./public-url.ts";
import { startRecording } from "./recording.ts";
import { createReporter } from "./reporter.ts";
import { readToolEnvironments } from "./tool-environment.ts";
import { ToolRunner } from "./tool-runner.ts";
import { CALL_HEADER, SECRET_HEADER, SIMULATION_HEADER, toolWebhook } from "./tool-webhook.ts";
import { type VoiceConnection, voiceEndpoint } from "./voice-endpoint.ts";

/** The runtime waits this much longer for a tool webhook than the slowest tool may take. */
const WEBHOOK_MARGIN_SECONDS = 5;
const CLOSE_TIMEOUT_MS = 5_000;

export interface AgentOptions {
  log: Logger;
  /** The tools; default: those of the folder `tools`. */
  tools?: ToolRegistry;
  /** What the tools may read of the environment; default: nothing. */
  environment?: Readonly<Record<string, string | undefined>>;
}

export interface RunningAgent {
  /** Where it listens, as this machine reaches it, without a slash at the end. */
  url: string;
  /** Calls at the moment. */
  readonly activeCalls: number;
  /** Resolves as soon as there is no call. */
  idle(): Promise<void>;
  /** Takes no new calls, lets running ones finish within the drain timeout, ends the rest, closes everything. */
  stop(): Promise<void>;
}

/**
 * Starts the agent. @throws when a tool file is broken or the address is taken
 */
export async function startAgent(config: Config, options: AgentOptions): Promise<RunningAgent> {
  const { log } = options;
  const tools = options.tools ?? (await loadTools());
  const secret = config.toolSecret ?? randomBytes(24).toString("base64url");
  const calls = new CallRegister();
  const metrics = new AgentMetrics(() => calls.size);
  const database = openDatabase(config.databaseUrl, log);
  const reporter = createReporter(config.engineUrl, metrics);
  const runtime = new RuntimeApi({
    url: config.voiceApiUrl,
    apiKey: config.voiceApiKey,
    createTimeoutMs: config.createTimeoutMs,
  });
  const runner = new ToolRunner({
    tools,
    database,
    environments: readToolEnvironments(tools, options.environment ?? {}, log),
    reporter,
    metrics,
    defaultTimeoutMs: config.toolTimeoutMs,
  });

  const app = express().disable("x-powered-by").disable("etag");
  app.use(
    toolWebhook({
      secret,
      runner,
      log,
      callerOf: ({ callId, runtimeCallId, simulationId }) => {
        const call = calls.get(callId);
        return {
          runtimeCallId: runtimeCallId ?? call?.runtimeCallId,
          simulationId: simulationId ?? config.simulationId,
          log: call?.log ?? log,
          note: (event, details) => call?.note(event, details),
        };
      },
    }),
  );
  app.use(probes(calls, metrics), elsewhere(log));
  const server = createServer(app);
  await listen(server, config);
  const url = ownUrl(server, config.host);
  const publicUrl = await publicUrlFor(config, url, log).catch(async (error) => {
    await closeServer(server);
    throw error;
  });

  function webhook(baseUrl: string, callId: string, simulationId: string | undefined): ToolWebhook {
    const slowestMs = Math.max(config.toolTimeoutMs, ...tools.all().map((tool) => tool.timeoutMs ?? 0));
    return {
      url: `${baseUrl}/tool`,
      headers: {
        [SECRET_HEADER]: secret,
        [CALL_HEADER]: callId,
        ...(simulationId === undefined ? {} : { [SIMULATION_HEADER]: simulationId }),
      },
      timeoutSeconds: Math.ceil(slowestMs / 1000) + WEBHOOK_MARGIN_SECONDS,
    };
  }

  function take({ caller, simulationId = config.simulationId }: VoiceConnection): void {
    const id = randomUUID();
    const callLog = log.child({
      call: id,
      ...(simulationId === undefined ? {} : { simulation: simulationId }),
    });
    const metadata: Record<string, string> = simulationId === undefined ? {} : { simulationId };
    const call = new Call(id, caller, {
      runtime,
      publicUrl,
      metrics,
      log: callLog,
      assistant: (baseUrl) => describeAssistant(tools, webhook(baseUrl, id, simulationId), metadata),
      recording: config.recordDir === undefined ? undefined : startRecording(config.recordDir, id, callLog),
      dialTimeoutMs: config.dialTimeoutMs,
      heartbeatMs: config.heartbeatMs,
    });
    calls.run(call);
  }

  server.on("upgrade", voiceEndpoint({ config, calls, metrics, log, take }));

  let stopping: Promise<void> | undefined;
  async function stop(): Promise<void> {
    calls.refuse();
    await calls.drain(config.drainTimeoutMs);
    await publicUrl.close();
    await closeServer(server);
    await Promise.all([reporter.close(), database.close()]);
    runtime.close();
  }
  return {
    url,
    get activeCalls() {
      return calls.size;
    },
    idle: () => calls.idle(),
    stop: () => {
      stopping ??= stop();
      return stopping;
    },
  };
}

function listen(server: Server, config: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(config.port, config.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** An address bound to all interfaces is reached over loopback. */
function ownUrl(server: Server, host: string): string {
  const { port, family } = server.address() as AddressInfo;
  const anyHost = host === "0.0.0.0" || host === "::";
  const name = anyHost ? "127.0.0.1" : host;
  return `http://${family === "IPv6" && name.includes(":") ? `[${name}]` : name}:${port}`;
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS);
  await closed;
  clearTimeout(timer);
}

/** The agent as one HTTP application: `/voice` for callers, `/tool` for the runtime, health and metrics. */
import { randomBytes, randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import express, { type Express, type RequestHandler } from "express";
import type { Logger } from "pino";
import { loadTools, type ToolRegistry } from "../tools/registry.ts";
import { describeAssistant, type ToolWebhook } from "./assistant.ts";
import { Call } from "./call/call.ts";
import { CallRegister } from "./call/call-register.ts";
import { RuntimeApi } from "./call/runtime-api.ts";
import { RuntimeCalls } from "./call/runtime-calls.ts";
import { type Config, explainListenError } from "./config.ts";
import { openDatabase } from "./database.ts";
import { pause, withDeadline } from "./deadline.ts";
import { DEFAULT_LIMITS, HttpServer } from "./http-server.ts";
import { FirstTimes, messageOf } from "./log.ts";
import { AgentMetrics } from "./metrics.ts";
import { notFound, probes, ROUTES } from "./probes.ts";
import { publicUrlFor } from "./public-url.ts";
import { startRecording } from "./recording.ts";
import { createReporter } from "./reporter.ts";
import { RequestGuard, refuseRequests } from "./request-guard.ts";
import { CallTrace } from "./telemetry/call-trace.ts";
import type { LogSpans } from "./telemetry/log-spans.ts";
import { NO_TELEMETRY, type Telemetry } from "./telemetry/telemetry.ts";
import { readToolEnvironments } from "./tool-environment.ts";
import { currentToolRun, ToolRunner, withoutWordsOf } from "./tool-runner.ts";
import {
  CALL_HEADER,
  SECRET_HEADER,
  SIMULATION_HEADER,
  type ToolRequest,
  type ToolResult,
  toolWebhook,
  WORKER_HEADER,
} from "./tool-webhook.ts";
import { type VoiceConnection, voiceEndpoint } from "./voice-endpoint.ts";
import type { HandedUpgrade, Primary } from "./workers/messages.ts";

/** Margin of the runtime's webhook timeout over the slowest tool. */
const WEBHOOK_MARGIN_SECONDS = 5;
/** Maximum connections besides those of callers: tool webhooks, probes, refused requests. */
const MAX_OTHER_CONNECTIONS = 512;
/** Margin of the idle timeout over the slowest tool. */
const IDLE_MARGIN_MS = 60_000;
/** Time limits for tearing down calls, and for closing everything else, after the drain time. */
const TEAR_DOWN_TIMEOUT_MS = 20_000;
const CLOSE_TIMEOUT_MS = 5_000;
/** Time a stopping agent has to end open calls at the runtime: after its own calls, or together with them in a hurry. */
const END_CALLS_TIMEOUT_MS = 10_000;
const HURRIED_END_CALLS_TIMEOUT_MS = 5_000;

/** Longest time that `drain` takes. */
export function drainLimitMs({ drainTimeoutMs, shutdownDelayMs }: Config): number {
  return Math.max(drainTimeoutMs, shutdownDelayMs) + TEAR_DOWN_TIMEOUT_MS + END_CALLS_TIMEOUT_MS;
}

/** Longest time that `close` takes. */
export const CLOSE_LIMIT_MS = 3 * CLOSE_TIMEOUT_MS;

export interface AgentOptions {
  log: Logger;
  /** The tools; default: those of the folder `tools`. */
  tools?: ToolRegistry;
  /** What the tools may read of the environment; default: nothing. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** The primary process, when this one is one of several workers. */
  primary?: Primary;
  /** Default: none. Whoever started it stops it, after the agent. */
  telemetry?: Telemetry;
  /** Learns which span the lines of a call belong to. */
  logSpans?: LogSpans;
}

/** An agent, of one process or several, as its main program runs it. */
export interface AgentProcess {
  /** Where it listens, as this machine reaches it, without a slash at the end. */
  readonly url: string;
  /** Calls at the moment. */
  readonly activeCalls: number;
  /** Drains and closes. */
  stop(): Promise<void>;
  /** Whether something went wrong while it stopped, so that calls may not have ended properly. */
  readonly hasFailed: boolean;
  /** Ends the running calls, here and within seconds at the runtime, so that `stop` need not wait for them. */
  endCalls(): void;
  /**
   * Logs and counts an error that no code caught, as that of the tool whose run it comes from. To be called by the
   * process's listener for such errors.
   */
  strayError(kind: "rejection" | "exception", error: unknown): void;
}

export interface RunningAgent extends AgentProcess {
  /** Connections of callers and other clients at the moment. */
  readonly connections: number;
  /** Resolves as soon as there is no call here and none left to end at the runtime. */
  idle(): Promise<void>;
  /**
   * From now on `/readyz` says 503; new calls are taken for `SHUTDOWN_DELAY_MS` more. Lets running ones finish within the
   * drain timeout, and ends the rest.
   */
  drain(): Promise<void>;
  /** Closes everything; until then the agent listens. */
  close(): Promise<void>;
  /** Stops listening, as one of several workers that leaves the others; open connections go on. */
  leave(): void;
  /** This process's own metrics. */
  metricsText(): string;
  /** Where the server for the tunnel listens, if there is one. */
  readonly toolUrl: string | undefined;
  /** Time limit of the slowest tool. */
  readonly slowestToolMs: number;
  /** Runs tool calls that came to another worker. */
  runTools(request: ToolRequest): Promise<ToolResult[]>;
  /** Serves an upgrade that another worker has handed over. */
  serveHanded(upgrade: HandedUpgrade, socket: Socket): void;
  /** Ends calls at the runtime whose worker was killed. */
  endOrphans(runtimeCallIds: readonly string[]): void;
}

/**
 * Starts the agent. @throws when a tool file is broken or the address is taken
 */
export async function startAgent(config: Config, options: AgentOptions): Promise<RunningAgent> {
  const { log, primary, telemetry = NO_TELEMETRY } = options;
  const tools = options.tools ?? (await loadTools());
  warnOfSecret(config, log);
  const secret = config.toolSecret ?? randomBytes(24).toString("base64url");
  const calls = new CallRegister();
  const metrics = new AgentMetrics(() => calls.size);
  telemetry.exportMetrics(metrics);
  const database = openDatabase(config.databaseUrl, log, telemetry);
  const reporter = createReporter(config.engineUrl, metrics, config.maxEventsInFlight, telemetry);
  const runtime = new RuntimeApi({ url: config.voiceApiUrl, apiKey: config.voiceApiKey });
  const runtimeCalls = new RuntimeCalls({
    api: runtime,
    metrics,
    createTimeoutMs: config.createTimeoutMs,
    openCalls: primary?.openCalls,
  });
  const runner = new ToolRunner({
    tools,
    database,
    environments: readToolEnvironments(tools, options.environment ?? {}, log),
    reporter,
    metrics,
    telemetry,
    defaultTimeoutMs: config.toolTimeoutMs,
  });

  const slowestToolMs = Math.max(config.toolTimeoutMs, ...tools.all().map((tool) => tool.timeoutMs ?? 0));
  const { router: toolRoute, run: runTools } = toolWebhook({
    secret,
    runner,
    log,
    metrics,
    telemetry,
    callerOf: ({ callId, runtimeCallId, simulationId }) => {
      const call = calls.get(callId);
      return {
        runtimeCallId: runtimeCallId ?? call?.runtimeCallId,
        simulationId: simulationId ?? config.simulationId,
        log: call?.log ?? log,
        note: (event, details) => call?.note(event, details),
      };
    },
    ...(primary && { runElsewhere: primary.runTools }),
  });
  const guard = new RequestGuard(config, log);
  const countRefused = (reason: string) => metrics.requestsRefused.add(1, { reason });
  const logged = new FirstTimes();
  const onDropped = () => {
    countRefused("too_many_connections");
    if (!logged.isFirst("too_many_connections")) return;
    log.warn(
      "there are too many connections: more are closed at once; said once, /metrics counts the others",
    );
  };
  const limits = {
    ...DEFAULT_LIMITS,
    idleTimeoutMs: slowestToolMs + IDLE_MARGIN_MS,
    maxConnections: config.maxCalls + MAX_OTHER_CONNECTIONS,
  };
  let draining = false;
  const voice = voiceEndpoint({ config, guard, calls, metrics, log, primary, take });
  const server = new HttpServer({
    handle: application(
      refuseRequests((request) => guard.refusalOf(request), countRefused),
      toolRoute,
      probes({
        get draining() {
          return draining;
        },
        metricsText: primary?.metrics ?? (() => metrics.text()),
      }),
      notFound(ROUTES, metrics, log),
    ),
    upgrades: voice,
    limits,
    onDropped,
  });
  // The tunnel leads to a separate server, so that nothing else is reachable from outside.
  const toolServer = new HttpServer({
    handle: application(
      refuseRequests((request) => guard.foreignOrigin(request), countRefused),
      toolRoute,
      notFound(["POST /tool"], metrics, log),
    ),
    limits: { ...limits, maxConnections: MAX_OTHER_CONNECTIONS },
    onDropped,
  });

  let toolUrl: string | undefined;
  const publicUrl = await publicUrlFor(config, {
    log,
    ownUrl: () => server.url,
    async openToolServer() {
      await toolServer.listen(0, "127.0.0.1");
      toolUrl = toolServer.url;
      return toolUrl;
    },
    ...(primary && { sharedTunnel: primary.tunnelUrl }),
  });
  await server.listen(config.port, config.host).catch(async (error: NodeJS.ErrnoException) => {
    await toolServer.close(0);
    throw explainListenError(error, config);
  });

  function webhook(
    baseUrl: string,
    callId: string,
    simulationId: string | undefined,
    trace: CallTrace,
  ): ToolWebhook {
    return {
      url: `${baseUrl}/tool`,
      headers: {
        ...trace.headers,
        [SECRET_HEADER]: secret,
        [CALL_HEADER]: callId,
        ...(simulationId === undefined ? {} : { [SIMULATION_HEADER]: simulationId }),
        ...(primary && { [WORKER_HEADER]: primary.worker }),
      },
      timeoutSeconds: Math.ceil(slowestToolMs / 1000) + WEBHOOK_MARGIN_SECONDS,
    };
  }

  function take({ caller, simulationId = config.simulationId, headers }: VoiceConnection): Promise<void> {
    const id = randomUUID();
    const callLog = log.child({
      call: id,
      ...(simulationId === undefined ? {} : { simulation: simulationId }),
    });
    const metadata: Record<string, string> = simulationId === undefined ? {} : { simulationId };
    const traced = { id, simulationId, framing: caller.framing };
    const trace = new CallTrace(telemetry, telemetry.extract(headers), traced);
    options.logSpans?.follow(callLog, trace.span.spanContext());
    const call = new Call(id, caller, {
      runtimeCalls,
      publicUrl,
      metrics,
      log: callLog,
      trace,
      assistant: (baseUrl) => describeAssistant(tools, webhook(baseUrl, id, simulationId, trace), metadata),
      recording: config.recordDir === undefined ? undefined : startRecording(config.recordDir, id, callLog),
      limits: config,
      dialTimeoutMs: config.dialTimeoutMs,
      heartbeatMs: config.heartbeatMs,
    });
    return calls.run(call);
  }

  const hurry = new AbortController();
  let stopping: Promise<void> | undefined;
  let drained: Promise<void> | undefined;
  function drain(): Promise<void> {
    drained ??= drainOnce();
    return drained;
  }
  async function drainOnce(): Promise<void> {
    draining = true;
    const { drainTimeoutMs, shutdownDelayMs } = config;
    // Whoever sends calls needs a while to see /readyz fail: to refuse them before would lose them. Calls that would be
    // cut at once are not taken.
    const takingMs = Math.min(shutdownDelayMs, drainTimeoutMs);
    if (takingMs === 0) calls.refuse();
    const callsMs = Math.max(drainTimeoutMs, shutdownDelayMs) + TEAR_DOWN_TIMEOUT_MS;
    const ended = calls.drain(drainTimeoutMs, pause(takingMs, hurry.signal));
    await endWithin(callsMs, "calls", ended, pause(shutdownDelayMs, hurry.signal));
    await runtimeCalls.drain(END_CALLS_TIMEOUT_MS);
  }
  async function close(): Promise<void> {
    await endWithin(CLOSE_TIMEOUT_MS, "the tunnel", publicUrl.close());
    await Promise.all([server.close(CLOSE_TIMEOUT_MS), toolServer.close(CLOSE_TIMEOUT_MS)]);
    await endWithin(CLOSE_TIMEOUT_MS, "reports and the database", reporter.close(), database.close());
    runtime.close();
  }
  /** Waits for parts to end, within a time limit, so that a hanging part does not keep the agent running. */
  async function endWithin(timeoutMs: number, what: string, ...ends: Promise<void>[]): Promise<void> {
    try {
      await withDeadline(new AbortController().signal, timeoutMs, () => Promise.all(ends));
    } catch (error) {
      log.error({ what, reason: messageOf(error) }, "a part of the agent did not end properly");
    }
  }
  return {
    url: server.url,
    get activeCalls() {
      return calls.size;
    },
    get connections() {
      return server.connections;
    },
    hasFailed: false,
    async idle() {
      await calls.idle();
      await runtimeCalls.idle();
    },
    stop() {
      stopping ??= drain().then(close);
      return stopping;
    },
    drain,
    close,
    leave() {
      server.stopListening();
      toolServer.stopListening();
    },
    metricsText: () => metrics.text(),
    get toolUrl() {
      return toolUrl;
    },
    slowestToolMs,
    runTools,
    endOrphans(runtimeCallIds) {
      for (const id of runtimeCallIds) runtimeCalls.endOrphan(id, log);
    },
    serveHanded: (upgrade, socket) => voice.serveHanded(upgrade, socket),
    endCalls: () => {
      hurry.abort();
      calls.refuse();
      calls.endAll();
      void runtimeCalls.drain(HURRIED_END_CALLS_TIMEOUT_MS);
    },
    strayError(kind, error) {
      const run = currentToolRun();
      metrics.strayErrors.add(1, { kind, tool: run?.tags.tool ?? "none" });
      if (run === undefined) log.error({ err: error }, `${kind} that no code caught`);
      else {
        const { tags } = run;
        const reason = withoutWordsOf(run.arguments, messageOf(error));
        run.log.error({ ...tags, reason }, `${kind} that no code of the tool caught`);
      }
    },
  };
}

/** Several agents behind one address need one secret; each worker of an agent has the same in any case. */
export function warnOfSecret({ publicBaseUrl, toolSecret }: Config, log: Logger): void {
  if (publicBaseUrl === undefined || toolSecret !== undefined) return;
  log.warn(
    "PUBLIC_BASE_URL is set and TOOL_SECRET is not: with more than one agent behind that address, each would refuse the tool calls of the others' phone calls; set the same TOOL_SECRET for all",
  );
}

/** @param handlers tried in this order */
function application(...handlers: RequestHandler[]): Express {
  return express()
    .disable("x-powered-by")
    .disable("etag")
    .use(...handlers);
}

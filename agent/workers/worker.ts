/**
 * One worker of several: the whole agent, which shares its address, its secret and its limits with the others through the
 * primary process. It ignores signals, for a terminal sends them to every process of a group: the primary says when to stop.
 */
import cluster from "node:cluster";
import type { Socket } from "node:net";
import { z } from "zod";
import { ToolLoadError } from "../../tools/registry.ts";
import { ConfigError, readConfig } from "../config.ts";
import { flushLog, messageOf } from "../log.ts";
import { startAgent } from "../server.ts";
import { observeProcess } from "../telemetry/observe-process.ts";
import { Link, type LinkMessage } from "./link.ts";
import {
  handedUpgradeSchema,
  type Primary,
  roomSchema,
  toolRequestSchema,
  toolResultsSchema,
  WORKER_VARIABLE,
} from "./messages.ts";

/** Time limits of questions to the primary. */
const RESERVE_TIMEOUT_MS = 5_000;
const METRICS_TIMEOUT_MS = 5_000;
/** A tunnel may need several attempts. */
const TUNNEL_TIMEOUT_MS = 120_000;
/** Margin over the slowest tool. */
const TOOLS_MARGIN_MS = 2_000;

async function main(): Promise<void> {
  const worker = process.env[WORKER_VARIABLE] ?? "";
  delete process.env[WORKER_VARIABLE];
  const whole = readConfig(process.env);
  const config = { ...whole, maxEventsInFlight: Math.ceil(whole.maxEventsInFlight / whole.workers) };
  const observed = await observeProcess(config.logLevel, worker);
  const { log } = observed;
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => {});
  // Else Node ends this process as soon as the primary is gone, and its calls with it.
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;

  const link = new Link({
    send: sendToPrimary,
    handlers: {
      metrics: () => agent.metricsText(),
      "run-tools": (body) => agent.runTools(toolRequestSchema.parse(body)),
      serve(body, socket) {
        // A connection that was closed on its way does not arrive.
        if (socket === undefined) link.tell("release");
        else agent.serveHanded(handedUpgradeSchema.parse(body), socket);
      },
      "end-orphans": (body) => agent.endOrphans(z.array(z.string()).parse(body)),
      async drain() {
        await agent.drain();
        link.tell("drained");
      },
      "end-calls": () => agent.endCalls(),
      async close() {
        await agent.close();
        await observed.telemetry.stop();
        await flushLog(log);
        process.exit(0);
      },
    },
    onError: (error) => log.error({ reason: messageOf(error) }, "a message of the primary process failed"),
  });
  process.on("message", (message, handle) => link.receive(message, handle));

  const primary: Primary = {
    worker,
    reserve: () => link.ask("reserve", null, { answer: roomSchema, timeoutMs: RESERVE_TIMEOUT_MS }),
    release: () => link.tell("release"),
    openCalls: {
      opened: (runtimeCallId) => link.tell("opened", runtimeCallId),
      over: (runtimeCallId) => link.tell("over", runtimeCallId),
    },
    handOver: (to, upgrade, socket) => link.tell("hand-over", { to, upgrade }, socket),
    async runTools(request, named) {
      if (named === worker) return undefined;
      const asked = { worker: named ?? null, request };
      const timeoutMs = agent.slowestToolMs + TOOLS_MARGIN_MS;
      const results = await link.ask("run-tools", asked, { answer: toolResultsSchema.nullable(), timeoutMs });
      return results ?? undefined;
    },
    metrics: () => link.ask("metrics", null, { answer: z.string(), timeoutMs: METRICS_TIMEOUT_MS }),
    tunnelUrl: () => link.ask("tunnel", null, { answer: z.string(), timeoutMs: TUNNEL_TIMEOUT_MS }),
  };
  const agent = await startAgent(config, { ...observed, environment: process.env, primary });

  let isLeaving = false;
  /** Ends this worker alone: its calls may finish, and another worker takes its place. */
  async function leave(): Promise<void> {
    if (isLeaving) return;
    isLeaving = true;
    agent.leave();
    link.tell("leaving");
    await agent.stop();
    await observed.telemetry.stop();
    await flushLog(log);
    sendAndExit({ kind: "notice", about: "last-metrics", body: agent.metricsText() });
  }
  process.on("unhandledRejection", (reason) => agent.strayError("rejection", reason));
  process.on("uncaughtException", (error) => {
    agent.strayError("exception", error);
    void leave();
  });
  process.on("disconnect", () => {
    link.close("the primary process is gone");
    log.error({ calls: agent.activeCalls }, "the primary process is gone: running calls may finish");
    void leave();
  });
  link.tell("ready", { url: agent.url, toolUrl: agent.toolUrl ?? null });
}

function sendToPrimary(message: LinkMessage, socket?: Socket): void {
  if (socket === undefined) {
    // With a callback, a primary that is just going makes no error event; `disconnect` tells of it.
    process.send?.(message, undefined, {}, () => {});
    return;
  }
  // Node would keep books, across processes, of a connection that knows its server, and this server could not close.
  Object.assign(socket, { server: null });
  process.send?.(message, socket, {}, () => socket.destroy());
}

function sendAndExit(message: LinkMessage): void {
  if (process.connected) process.send?.(message, undefined, {}, () => process.exit(1));
  else process.exit(1);
}

main().catch((error) => {
  const expected = error instanceof ConfigError || error instanceof ToolLoadError;
  const reason = expected || !(error instanceof Error) ? messageOf(error) : (error.stack ?? error.message);
  sendAndExit({ kind: "notice", about: "failed", body: reason });
});

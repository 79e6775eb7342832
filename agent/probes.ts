/** The routes for operators (liveness, readiness, metrics), and the answers to unknown routes and failed requests. */
import express, { type ErrorRequestHandler, type Router } from "express";
import type { Logger } from "pino";
import { messageOf, safeText } from "./log.ts";
import type { AgentMetrics } from "./metrics.ts";
import { isWebSocket } from "./voice-endpoint.ts";

/** What the routes for operators tell. */
export interface ProbedAgent {
  /** Whether the agent is shutting down. */
  readonly draining: boolean;
  /** The metrics, of all processes of the agent. */
  metricsText(): string | Promise<string>;
}

/** `/healthz`, `/readyz` (503 while shutting down), `/metrics`, and a hint for requests of `/voice` without a WebSocket. */
export function probes(agent: ProbedAgent): Router {
  const router = express.Router();
  router.get("/healthz", (_request, response) => {
    response.json({ status: "ok" });
  });
  router.get("/readyz", (_request, response) => {
    response.status(agent.draining ? 503 : 200).json({ status: agent.draining ? "draining" : "ready" });
  });
  router.get("/metrics", async (_request, response) => {
    let text: string;
    try {
      text = await agent.metricsText();
    } catch (error) {
      // Part of a sum would look like counters that start anew.
      response.status(503).json({ error: messageOf(error) });
      return;
    }
    response.type("text/plain; version=0.0.4; charset=utf-8").send(text);
  });
  router.all("/voice", (_request, response) => {
    const error = "callers connect with a WebSocket; see https://www.rfc-editor.org/rfc/rfc6455";
    response.status(426).set("upgrade", "websocket").json({ error });
  });
  return router;
}

/** The agent's routes, as listed in the answer to an unknown one. */
export const ROUTES = ["WebSocket /voice", "POST /tool", "GET /healthz", "GET /readyz", "GET /metrics"];

/**
 * Answers unknown routes with the list of routes, and failed requests without internal details.
 * @param routes the routes to list
 */
export function notFound(routes: readonly string[], metrics: AgentMetrics, log: Logger): Router {
  const router = express.Router();
  router.use((request, response) => {
    if (isWebSocket(request)) {
      metrics.refused.add(1, { reason: "unknown_path" });
      log.warn({ status: 404, reason: "unknown_path" }, "a caller was refused");
    }
    response.status(404).json({ error: "there is nothing here", routes });
  });
  const failed: ErrorRequestHandler = (error, _request, response, next) => {
    log.warn({ reason: safeText(messageOf(error), []) }, "a request failed");
    if (response.headersSent) next(error);
    else response.status(400).json({ error: "the request could not be read" });
  };
  router.use(failed);
  return router;
}

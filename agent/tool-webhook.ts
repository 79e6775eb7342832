/**
 * `POST /tool`: the runtime's tool calls. Always answers 200 with one entry per call, in order, because the runtime drops
 * every other answer without telling the model. https://docs.vapi.ai/tools/custom-tools-troubleshooting
 */
import { timingSafeEqual } from "node:crypto";
import express, { type ErrorRequestHandler, type Response, type Router } from "express";
import type { Logger } from "pino";
import { AnswerMemory } from "./answer-memory.ts";
import { FirstTimes, messageOf, safeText } from "./log.ts";
import type { AgentMetrics } from "./metrics.ts";
import { type RequestedCall, readToolCalls } from "./tool-calls.ts";
import { errorLine, type ToolCaller, type ToolRunner } from "./tool-runner.ts";

/** Headers the agent has the runtime send along with each tool call. */
export const SECRET_HEADER = "x-offhook-secret";
export const CALL_HEADER = "x-offhook-call";
/** The call's simulation, if it has one: a tool call may come after the phone call is over, or to another process. */
export const SIMULATION_HEADER = "x-offhook-simulation";

/** A body carries the whole conversation so far. */
const MAX_BODY = "4mb";

export interface ToolWebhookParts {
  secret: string;
  runner: ToolRunner;
  log: Logger;
  metrics: AgentMetrics;
  /** Finds the phone call by the agent's own id of it; a webhook for an unknown one still works. */
  callerOf(origin: ToolCallOrigin): ToolCaller;
}

/** What a webhook says of the phone call it belongs to. */
interface ToolCallOrigin {
  /** The agent's own id of the call. */
  callId: string | undefined;
  runtimeCallId: string | undefined;
  simulationId: string | undefined;
}

interface ToolResult {
  toolCallId: string;
  result: string;
}

/** The route of the webhook. */
export function toolWebhook(parts: ToolWebhookParts): Router {
  const router = express.Router();
  const answers = new AnswerMemory();
  const isSecret = secretMatcher(parts.secret);
  const logged = new FirstTimes();

  /** Whoever reaches the webhook can cause these lines, so each is logged once; the metric counts them all. */
  function refuse(reason: string, message: string): void {
    parts.metrics.webhooksRefused.add(1, { reason });
    if (logged.isFirst(reason))
      parts.log.warn({ reason }, `${message}; said once, /metrics counts the others`);
  }

  async function answer(call: RequestedCall, callKey: string, caller: ToolCaller): Promise<ToolResult> {
    const run = () => parts.runner.run(call, caller);
    const result = call.id === "" ? await run() : await answers.once(`${callKey} ${call.id}`, run);
    return { toolCallId: call.id, result: result ?? errorLine("too many tool calls at once; try again") };
  }

  router.post("/tool", express.raw({ type: () => true, limit: MAX_BODY }), async (request, response) => {
    const body: unknown = request.body;
    const message = readToolCalls(Buffer.isBuffer(body) ? body : Buffer.alloc(0));
    if ("problem" in message) {
      refuse("no_tool_calls", `a tool webhook has no tool calls: ${message.problem}`);
      send(response, []);
      return;
    }
    if (!isSecret(request.get(SECRET_HEADER) ?? "")) {
      refuse(
        "foreign_secret",
        "a tool webhook without this agent's secret: nothing is run; agents behind one address need the same TOOL_SECRET",
      );
      const result = errorLine("unauthorised: the webhook's secret is missing or wrong");
      send(
        response,
        message.calls.map((call) => ({ toolCallId: call.id, result })),
      );
      return;
    }
    const callId = request.get(CALL_HEADER);
    const { runtimeCallId } = message;
    const simulationId = request.get(SIMULATION_HEADER);
    const caller = parts.callerOf({ callId, runtimeCallId, simulationId });
    const callKey = callId ?? runtimeCallId ?? "";
    const results = await Promise.all(message.calls.map((call) => answer(call, callKey, caller)));
    send(response, results);
  });
  router.use("/tool", unreadableBody(refuse));
  return router;
}

/** Writes the answer directly: the ETag and content negotiation of `response.json` cost more than the answer itself. */
function send(response: Response, results: ToolResult[]): void {
  const body = JSON.stringify({ results });
  response.writeHead(200, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}

function unreadableBody(refuse: (reason: string, message: string) => void): ErrorRequestHandler {
  return (error, _request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    refuse("unreadable", `a tool webhook could not be read: ${safeText(messageOf(error), [])}`);
    send(response, []);
  };
}

/** Compares in constant time; only the length, which is no secret, can leak. */
function secretMatcher(secret: string): (guess: string) => boolean {
  const expected = Buffer.from(secret);
  return (guess) => {
    const given = Buffer.from(guess);
    return given.length === expected.length && timingSafeEqual(given, expected);
  };
}

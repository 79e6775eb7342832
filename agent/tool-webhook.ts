/**
 * `POST /tool`: the runtime's tool calls. Always answers 200 with one entry per call, in order, because the runtime drops
 * every other answer without telling the model. https://docs.vapi.ai/tools/custom-tools-troubleshooting
 */
import { timingSafeEqual } from "node:crypto";
import { SpanKind, trace as traceApi } from "@opentelemetry/api";
import {
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
} from "@opentelemetry/semantic-conventions";
import express, { type ErrorRequestHandler, type Response, type Router } from "express";
import type { Logger } from "pino";
import { AnswerMemory } from "./answer-memory.ts";
import { FirstTimes, messageOf, safeText } from "./log.ts";
import type { AgentMetrics } from "./metrics.ts";
import { NO_TELEMETRY, type Telemetry } from "./telemetry/telemetry.ts";
import { type RequestedCall, readToolCalls } from "./tool-calls.ts";
import { errorLine, type ToolCaller, type ToolRunner } from "./tool-runner.ts";

/** Headers the agent has the runtime send along with each tool call. */
export const SECRET_HEADER = "x-offhook-secret";
export const CALL_HEADER = "x-offhook-call";
/** The call's simulation, if it has one: a tool call may come after the phone call is over, or to another process. */
export const SIMULATION_HEADER = "x-offhook-simulation";
/** Which of several workers has the call. */
export const WORKER_HEADER = "x-offhook-worker";

/** A body carries the whole conversation so far. */
const MAX_BODY = "4mb";

const SERVER_SPAN = {
  kind: SpanKind.SERVER,
  attributes: {
    [ATTR_HTTP_REQUEST_METHOD]: "POST",
    [ATTR_HTTP_ROUTE]: "/tool",
    [ATTR_HTTP_RESPONSE_STATUS_CODE]: 200,
  },
};

export interface ToolWebhookParts {
  secret: string;
  runner: ToolRunner;
  log: Logger;
  metrics: AgentMetrics;
  telemetry?: Telemetry;
  /** Finds the phone call by the agent's own id of it; a webhook for an unknown one still works. */
  callerOf(origin: ToolCallOrigin): ToolCaller;
  /**
   * Has another worker run the calls, if it is theirs: each tool call is run once, by whoever remembers its answer.
   * @param worker from the header, unchecked
   * @returns undefined when they are this process's own
   */
  runElsewhere?(request: ToolRequest, worker: string | undefined): Promise<ToolResult[] | undefined>;
}

/** What a webhook says of the phone call it belongs to. */
export interface ToolCallOrigin {
  /** The agent's own id of the call. */
  callId?: string | undefined;
  runtimeCallId?: string | undefined;
  simulationId?: string | undefined;
}

/** The tool calls of one webhook. */
export interface ToolRequest {
  origin: ToolCallOrigin;
  calls: RequestedCall[];
  /** Headers by which the runs continue the webhook's trace. */
  trace?: Record<string, string>;
}

/** One entry of the webhook's answer. */
export interface ToolResult {
  toolCallId: string;
  result: string;
}

/** The webhook, and what it does once it has read and checked a request. */
export interface ToolWebhook {
  router: Router;
  /** Runs the calls, each once; for a repeated one the first answer is given again. */
  run(request: ToolRequest): Promise<ToolResult[]>;
}

/** The tool calls' phone call, as far as it is known. */
export function callKeyOf({ callId, runtimeCallId }: ToolCallOrigin): string {
  return callId ?? runtimeCallId ?? "";
}

/** The route of the webhook. */
export function toolWebhook(parts: ToolWebhookParts): ToolWebhook {
  const router = express.Router();
  const answers = new AnswerMemory();
  const isSecret = secretMatcher(parts.secret);
  const logged = new FirstTimes();
  const { telemetry = NO_TELEMETRY } = parts;

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

  function run({ origin, calls, trace = {} }: ToolRequest): Promise<ToolResult[]> {
    const caller = { ...parts.callerOf(origin), context: telemetry.extract(trace) };
    const callKey = callKeyOf(origin);
    return Promise.all(calls.map((call) => answer(call, callKey, caller)));
  }

  /** @returns undefined when the calls are this process's own */
  async function runElsewhere(request: ToolRequest, worker: string | undefined) {
    try {
      return await parts.runElsewhere?.(request, worker);
    } catch (error) {
      parts.log.error(
        { worker, reason: messageOf(error) },
        "tool calls did not reach the worker of their call",
      );
      const result = errorLine("the process that has this phone call does not answer; try again");
      return request.calls.map(({ id }) => ({ toolCallId: id, result }));
    }
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
    const { runtimeCallId, calls } = message;
    const callId = request.get(CALL_HEADER);
    const simulationId = request.get(SIMULATION_HEADER);
    const parent = telemetry.extract(request.headers);
    const span = telemetry.tracer.startSpan("POST /tool", SERVER_SPAN, parent);
    const trace = telemetry.inject(traceApi.setSpan(parent, span));
    const toolRequest = { origin: { callId, runtimeCallId, simulationId }, calls, trace };
    const worker = request.get(WORKER_HEADER);
    const results = (await runElsewhere(toolRequest, worker)) ?? (await run(toolRequest));
    span.end();
    send(response, results);
  });
  router.use("/tool", unreadableBody(refuse));
  return { router, run };
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

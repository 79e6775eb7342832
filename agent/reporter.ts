/**
 * Reports the agent's tool calls to the simulation engine, for its trace. Fire and forget: no call waits for a report, and
 * each lost one is logged with the tool's name and the tool call's id, and counted.
 */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { type Context, ROOT_CONTEXT, SpanKind, trace } from "@opentelemetry/api";
import { ATTR_HTTP_REQUEST_METHOD } from "@opentelemetry/semantic-conventions";
import fetch from "node-fetch";
import type { Logger } from "pino";
import { withDeadline } from "./deadline.ts";
import { toJson, toJsonLine } from "./json.ts";
import { messageOf } from "./log.ts";
import type { AgentMetrics } from "./metrics.ts";
import { inSpan } from "./telemetry/call-trace.ts";
import { NO_TELEMETRY, type Telemetry } from "./telemetry/telemetry.ts";

/** Of the semantic conventions, where it is not stable yet. */
const ATTR_URL_TEMPLATE = "url.template";

const TIMEOUT_MS = 2_000;
const MAX_SOCKETS = 64;
/**
 * Idle connections are closed after this, or a second before the engine said that it would: a report that is sent while the
 * engine closes its connection is lost. Servers commonly wait 5 s.
 */
const MAX_IDLE_MS = 4_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** How the log names a tool call. */
export interface ToolTags {
  /** `unknown` for a name that the model made up. */
  tool: string;
  toolCallId: string;
}

/** One tool call, as it was dispatched. */
interface ToolCallReport {
  simulationId: string | undefined;
  name: string;
  /** How the log names the call; `name` may be made up by the model and contain the caller's words. */
  tags: ToolTags;
  /** The arguments as the model gave them. */
  arguments: unknown;
  /** What the tool returned, or `{error}`. */
  result: unknown;
  /** The span of the tool's run. */
  context?: Context;
}

export interface Reporter {
  /** Sends `agent_tool_call`; does nothing without a simulation. Never throws, never waits. */
  toolCall(report: ToolCallReport, log: Logger): void;
  /** Waits for reports in progress, at most the report timeout. */
  close(): Promise<void>;
}

/**
 * @param engineUrl base address of the engine, without a slash at the end
 * @param maxInFlight maximum events in progress; further ones are lost
 */
export function createReporter(
  engineUrl: string,
  metrics: AgentMetrics,
  maxInFlight: number,
  telemetry: Telemetry = NO_TELEMETRY,
): Reporter {
  const inFlight = new Set<Promise<unknown>>();
  const connections = { keepAlive: true, maxSockets: MAX_SOCKETS, timeout: MAX_IDLE_MS };
  const httpAgent = new HttpAgent(connections);
  const httpsAgent = new HttpsAgent(connections);

  function send(report: ToolCallReport, simulationId: string, signal: AbortSignal): Promise<void> {
    const { context = ROOT_CONTEXT } = report;
    const attributes = {
      [ATTR_HTTP_REQUEST_METHOD]: "POST",
      [ATTR_URL_TEMPLATE]: "/simulations/{id}/events",
    };
    const name = "POST /simulations/{id}/events";
    const span = telemetry.tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, context);
    return inSpan(span, () =>
      post(report, simulationId, signal, telemetry.inject(trace.setSpan(context, span))),
    );
  }

  async function post(
    report: ToolCallReport,
    simulationId: string,
    signal: AbortSignal,
    headers: Record<string, string>,
  ): Promise<void> {
    const response = await fetch(`${engineUrl}/simulations/${encodeURIComponent(simulationId)}/events`, {
      method: "POST",
      signal,
      size: MAX_ANSWER_BYTES,
      agent: (url) => (url.protocol === "https:" ? httpsAgent : httpAgent),
      headers: { ...headers, "content-type": "application/json" },
      body: toJsonLine({
        service: "agent",
        event_type: "agent_tool_call",
        data: { name: report.name, arguments: argumentsObject(report.arguments), result: report.result },
      }),
    });
    // What the engine says may quote the event.
    await response.text();
    if (!response.ok) throw new Error(`the engine answered ${response.status}`);
  }

  return {
    toolCall(report, log) {
      const { simulationId } = report;
      if (simulationId === undefined) return;
      const lose = (kind: "too_many" | "failed", reason: string) => {
        metrics.eventsLost.add(1, { reason: kind });
        log.warn({ ...report.tags, reason }, "a tool call was not reported to the engine");
      };
      if (inFlight.size >= maxInFlight) {
        lose("too_many", `${maxInFlight} events are under way (MAX_EVENTS_IN_FLIGHT)`);
        return;
      }
      const sending = withDeadline(new AbortController().signal, TIMEOUT_MS, (signal) =>
        send(report, simulationId, signal),
      )
        .catch((error) => lose("failed", messageOf(error)))
        .finally(() => inFlight.delete(sending));
      inFlight.add(sending);
    },
    async close() {
      await Promise.all(inFlight);
      httpAgent.destroy();
      httpsAgent.destroy();
    },
  };
}

/** The engine takes an object; what the model gave instead of one is kept under `value`. */
function argumentsObject(value: unknown): object {
  const json = toJson(value);
  return typeof json === "object" && json !== null && !Array.isArray(json) ? json : { value: json };
}

/**
 * Tells the simulation engine what the agent's tools did, so that it shows in the trace. Fire and forget: nobody waits
 * for it, and a loss is one warning and one count.
 */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import fetch from "node-fetch";
import type { Logger } from "pino";
import { toJson, toJsonLine } from "./json.ts";
import { messageOf, safeText } from "./log.ts";
import type { AgentMetrics } from "./metrics.ts";

const TIMEOUT_MS = 2_000;
const MAX_IN_FLIGHT = 64;
const MAX_ANSWER_BYTES = 64 * 1024;

/** One tool call, as it was dispatched. */
export interface ToolCallReport {
  simulationId: string | undefined;
  name: string;
  /** The arguments as the model gave them. */
  arguments: unknown;
  /** What the tool returned, or `{error}`. */
  result: unknown;
}

export interface Reporter {
  /** Sends `agent_tool_call`; does nothing without a simulation. Never throws, never waits. */
  toolCall(report: ToolCallReport, log: Logger): void;
  /** Waits for what is under way, at most the report timeout. */
  close(): Promise<void>;
}

/** @param engineUrl base address of the engine, without a slash at the end */
export function createReporter(engineUrl: string, metrics: AgentMetrics): Reporter {
  const inFlight = new Set<Promise<void>>();
  const httpAgent = new HttpAgent({ keepAlive: true, maxSockets: MAX_IN_FLIGHT });
  const httpsAgent = new HttpsAgent({ keepAlive: true, maxSockets: MAX_IN_FLIGHT });
  let refusing = false;

  async function send(report: ToolCallReport, simulationId: string): Promise<void> {
    const response = await fetch(`${engineUrl}/simulations/${encodeURIComponent(simulationId)}/events`, {
      method: "POST",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      size: MAX_ANSWER_BYTES,
      agent: (url) => (url.protocol === "https:" ? httpsAgent : httpAgent),
      headers: { "content-type": "application/json" },
      body: toJsonLine({
        service: "agent",
        event_type: "agent_tool_call",
        data: { name: report.name, arguments: argumentsObject(report.arguments), result: report.result },
      }),
    });
    const body = await response.text();
    if (!response.ok) throw new Error(`the engine answered ${response.status}: ${safeText(body, [], 200)}`);
  }

  function lose(reason: string, kind: string, log: Logger): void {
    metrics.eventsLost.add(1, { reason: kind });
    log.warn({ reason }, "a tool call was not reported to the engine");
  }

  return {
    toolCall(report, log) {
      const { simulationId } = report;
      if (simulationId === undefined) return;
      if (inFlight.size >= MAX_IN_FLIGHT) {
        // One warning for a jam, not one for each event in it.
        if (refusing) metrics.eventsLost.add(1, { reason: "too_many" });
        else lose(`${MAX_IN_FLIGHT} reports are still under way`, "too_many", log);
        refusing = true;
        return;
      }
      const sending = send(report, simulationId)
        .catch((error) => lose(messageOf(error), "failed", log))
        .finally(() => {
          inFlight.delete(sending);
          refusing = false;
        });
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

/**
 * Merges the trace of a simulation from three sources: the agent's reports, the requests of the code under test to the
 * sandbox's twins, and what was said. Ordered by the sandbox's clock.
 */
import { showEntry } from "@offhook/platform/control/requests";
import type { JournalEntry } from "@offhook/platform/journal/journal";
import type { SandboxView, SpokenLine } from "@offhook/platform/twin/sandbox-view";
import { TOOL_CALL, toolCall } from "./events.ts";

export interface TracedSimulation {
  id: string;
  created_at: string;
  ended_at: string | null;
}

interface StoredEvent {
  service: string;
  event_type: string;
  data: Record<string, unknown>;
  received_at: string;
}

type RequestContent = Pick<
  ReturnType<typeof showEntry>,
  "operation" | "method" | "path" | "query" | "body" | "status" | "duration_ms"
> & { response: unknown };

/** One line of a trace. `offset_ms` counts from the creation of the simulation. */
export type TraceEntry = { at: string; offset_ms: number; service: string } & (
  | {
      source: "agent";
      kind: "tool_call";
      name: string;
      arguments: Record<string, unknown>;
      /** Any JSON value. */
      result: unknown;
    }
  | { source: "agent"; kind: "event"; event_type: string; data: Record<string, unknown> }
  | ({ source: "vendor"; kind: "request" } & RequestContent)
  | { source: "speech"; kind: "utterance"; call_id: string; speaker: "user" | "assistant"; text: string }
);

/** A line without its time. */
type LineContent<Entry = TraceEntry> = Entry extends unknown ? Omit<Entry, "at" | "offset_ms"> : never;
interface TimedLine {
  atMs: number;
  line: LineContent;
}

/** @param engine the engine's own service name, because reports to it are events and not vendor requests */
export function traceOf(
  simulation: TracedSimulation,
  events: readonly StoredEvent[],
  view: SandboxView,
  engine: string,
): TraceEntry[] {
  const startMs = Date.parse(simulation.created_at);
  const endMs = simulation.ended_at === null ? Number.POSITIVE_INFINITY : Date.parse(simulation.ended_at);
  const requests = view
    .vendorRequests()
    .filter(({ service }) => service !== engine)
    .flatMap(({ service, requests }) =>
      requests
        .filter(({ simulatedTimeMs }) => simulatedTimeMs >= startMs && simulatedTimeMs <= endMs)
        .map((entry) => requestLine(service, entry)),
    );
  const speech = view
    .spoken(simulation.id)
    .flatMap(({ service, lines }) => lines.map((line) => speechLine(service, line)));
  // The sort is stable: within a millisecond, a request precedes the report of the tool that made it.
  return [...requests, ...events.map(eventLine), ...speech]
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ atMs, line }) => ({ at: new Date(atMs).toISOString(), offset_ms: atMs - startMs, ...line }));
}

function eventLine({ service, event_type, data, received_at }: StoredEvent): TimedLine {
  const call = event_type === TOOL_CALL ? toolCall.safeParse(data) : undefined;
  return {
    atMs: Date.parse(received_at),
    line: call?.success
      ? { source: "agent", service, kind: "tool_call", ...call.data, result: call.data.result }
      : { source: "agent", service, kind: "event", event_type, data },
  };
}

function requestLine(service: string, entry: JournalEntry): TimedLine {
  const { operation, method, path, query, body, status, response, duration_ms } = showEntry(entry);
  const request = {
    operation,
    method,
    path,
    query,
    body,
    status,
    response: response?.body ?? null,
    duration_ms,
  };
  return { atMs: entry.simulatedTimeMs, line: { source: "vendor", service, kind: "request", ...request } };
}

function speechLine(service: string, { atMs, callId, speaker, text }: SpokenLine): TimedLine {
  return { atMs, line: { source: "speech", service, kind: "utterance", call_id: callId, speaker, text } };
}

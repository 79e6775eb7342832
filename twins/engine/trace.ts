/**
 * What happened in a simulation, from three sources: what the agent reported, what the code under test asked of the
 * sandbox's twins, what was said. In the order of the sandbox's clock.
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

type ShownRequest = Pick<
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
  | ({ source: "vendor"; kind: "request" } & ShownRequest)
  | { source: "speech"; kind: "utterance"; call_id: string; speaker: "user" | "assistant"; text: string }
);

/** What a line says besides when it was. */
type Said<Entry = TraceEntry> = Entry extends unknown ? Omit<Entry, "at" | "offset_ms"> : never;
interface Dated {
  atMs: number;
  line: Said;
}

/** @param engine the engine's own service name: reports made to it are the agent's events, no vendor's requests. */
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
    .flatMap(({ service, requests }) => requests.map((entry) => requestLine(service, entry)))
    .filter(({ atMs }) => atMs >= startMs && atMs <= endMs);
  const speech = view
    .spoken(simulation.id)
    .flatMap(({ service, lines }) => lines.map((line) => speechLine(service, line)));
  // The sort is stable: of the same millisecond, a request comes before the report of the tool that made it.
  return [...requests, ...events.map(eventLine), ...speech]
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ atMs, line }) => ({ at: new Date(atMs).toISOString(), offset_ms: atMs - startMs, ...line }));
}

function eventLine({ service, event_type, data, received_at }: StoredEvent): Dated {
  const call = event_type === TOOL_CALL ? toolCall.safeParse(data) : undefined;
  return {
    atMs: Date.parse(received_at),
    line: call?.success
      ? { source: "agent", service, kind: "tool_call", ...call.data, result: call.data.result }
      : { source: "agent", service, kind: "event", event_type, data },
  };
}

function requestLine(service: string, entry: JournalEntry): Dated {
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

function speechLine(service: string, { atMs, callId, speaker, text }: SpokenLine): Dated {
  return { atMs, line: { source: "speech", service, kind: "utterance", call_id: callId, speaker, text } };
}

/** What may be reported to a simulation, and how the trace shows it. */
import { z } from "zod";

/** The event type of a tool call; the trace recognises tool calls by exactly this word. */
export const TOOL_CALL = "agent_tool_call";

const toolCall = z.strictObject({
  name: z.string().min(1),
  arguments: z.record(z.string(), z.unknown()),
  /** Any JSON value, `null` included; but it has to be there. */
  result: z.unknown().refine((result) => result !== undefined, "is required (any JSON value)"),
});

/** Body of `POST /simulations/{id}/events`. A tool call has to carry what the trace shows of it. */
export const eventBody = z
  .strictObject({
    service: z.string().min(1),
    event_type: z.string().min(1),
    data: z.record(z.string(), z.unknown()),
  })
  .superRefine((event, context) => {
    if (event.event_type !== TOOL_CALL) return;
    const reading = toolCall.safeParse(event.data);
    for (const issue of reading.error?.issues ?? []) {
      context.addIssue({ code: "custom", message: issue.message, path: ["data", ...issue.path] });
    }
  });

interface StoredEvent {
  service: string;
  event_type: string;
  data: Record<string, unknown>;
  received_at: string;
}

/** One line of a trace. `offset_ms` counts from the creation of the simulation. */
export type TraceEntry = { at: string; offset_ms: number; service: string } & (
  | { kind: "tool_call"; name: string; arguments: Record<string, unknown>; result: unknown }
  | { kind: "event"; event_type: string; data: Record<string, unknown> }
);

/** Events in time order; those of the same time in the order in which they came. */
export function traceOf(createdAt: string, events: readonly StoredEvent[]): TraceEntry[] {
  const start = Date.parse(createdAt);
  return [...events]
    .sort((a, b) => Date.parse(a.received_at) - Date.parse(b.received_at))
    .map((event) => {
      const line = {
        at: event.received_at,
        offset_ms: Date.parse(event.received_at) - start,
        service: event.service,
      };
      const call = event.event_type === TOOL_CALL ? toolCall.safeParse(event.data) : undefined;
      if (call?.success) return { ...line, kind: "tool_call", ...call.data, result: call.data.result };
      return { ...line, kind: "event", event_type: event.event_type, data: event.data };
    });
}

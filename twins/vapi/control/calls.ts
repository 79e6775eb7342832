/** `/sim/calls`: the calls as a tester reads them, what was heard and waited for included. */
import { pageParameters } from "@offhook/platform/control/paging";
import { showBody } from "@offhook/platform/control/requests";
import { errorResponse, readQueryAs } from "@offhook/platform/http/errors";
import { type Operation, operation } from "@offhook/platform/http/operation";
import { z } from "zod";
import type { VoiceRuntimeTwin } from "../twin.ts";
import type { WebhookExchanges } from "../webhooks/exchanges.ts";
import type { CallRow, MessageRow } from "../world.ts";

const callsQuery = z.strictObject({
  status: z.enum(["queued", "in-progress", "ended"]).optional(),
  simulation_id: z.string().optional(),
  order: z.enum(["oldest", "newest"]).default("oldest"),
  ...pageParameters,
});

export const callOperations: Operation<VoiceRuntimeTwin>[] = [
  operation<VoiceRuntimeTwin>({
    id: "calls.read",
    method: "GET",
    path: "/sim/calls",
    surface: "rest",
    summary:
      "Calls in the order of their creation, oldest first unless order=newest, filtered by status and simulation_id; each with its outcome, turns, tools and slowest response.",
    handle(request, twin) {
      const query = readQueryAs(request, callsQuery);
      if (!query.ok) return query.response;
      const { status, simulation_id, order, limit, offset } = query.value;
      twin.calls.expire();
      const found = twin.store
        .all()
        .filter((row) => status === undefined || row.status === status)
        .filter((row) => simulation_id === undefined || row.simulation_id === simulation_id);
      const page = (order === "newest" ? found.reverse() : found).slice(offset, offset + limit);
      return {
        status: 200,
        body: {
          calls: page.map((row) => summarize(row, twin.store.messagesOf(row.id), twin)),
          total: found.length,
          limit,
          offset,
        },
      };
    },
  }),

  operation<VoiceRuntimeTwin>({
    id: "calls.get",
    method: "GET",
    path: "/sim/calls/:id",
    surface: "rest",
    summary:
      "One call: its messages in the order in which they began, with the latency of each answer; its assistant, without secrets; and its events.",
    handle({ params }, twin) {
      twin.calls.expire();
      const id = params.id ?? "";
      const row = twin.store.get(id);
      if (!row) return errorResponse(404, "not_found", `there is no call ${id}`);
      const messages = twin.store.messagesOf(id);
      return {
        status: 200,
        body: {
          ...summarize(row, messages, twin),
          assistant: describeAssistant(row, twin),
          messages: messages.map((message) => showMessage(message, twin.exchanges)),
          events: eventsOf(row, messages),
        },
      };
    },
  }),
];

function summarize(
  row: Readonly<CallRow>,
  messages: readonly Readonly<MessageRow>[],
  { recordings }: VoiceRuntimeTwin,
) {
  const { id, simulation_id, name, status, ended_reason, created_at, started_at, ended_at, duration_ms } =
    row;
  const inRole = (role: MessageRow["role"]) => messages.filter((message) => message.role === role);
  return {
    id,
    simulation_id,
    name,
    status,
    ended_reason,
    created_at,
    started_at,
    ended_at,
    duration_ms,
    turns: inRole("user").length,
    tool_calls: inRole("tool_call").map((call) => call.name),
    slowest_response_ms: slowestResponse(row, messages),
    unrecognised: inRole("unrecognised").length,
    recording: recordings.find(id) !== undefined,
  };
}

const endedPerformance = z.object({ turnLatencies: z.array(z.object({ turnLatency: z.number() })) });

/** An answer that was cut before its first word has no message, so an ended call's own figures count too. */
function slowestResponse(
  { performance }: Readonly<CallRow>,
  messages: readonly Readonly<MessageRow>[],
): number | null {
  const ended = endedPerformance.safeParse(performance);
  const waits = [
    ...messages.flatMap(({ latency }) => latency?.turn_ms ?? []),
    ...(ended.success ? ended.data.turnLatencies.map(({ turnLatency }) => turnLatency) : []),
  ];
  return waits.length === 0 ? null : Math.max(...waits);
}

function showMessage(message: Readonly<MessageRow>, exchanges: WebhookExchanges) {
  const { position, role, text, name, tool_call_id, start_ms, end_ms, recorded_at, latency } = message;
  return {
    position,
    role,
    text,
    name,
    arguments: message.arguments,
    tool_call_id,
    start_ms,
    end_ms,
    recorded_at,
    latency,
    interrupted: message.interrupted,
    webhook: role === "tool_call" ? showWebhook(message, exchanges) : null,
  };
}

/** The exchange of a tool call; `null` when there was none, or it is no longer kept. */
function showWebhook({ call_id, tool_call_id }: Readonly<MessageRow>, exchanges: WebhookExchanges) {
  const id = tool_call_id ?? "";
  const exchange = exchanges.find(call_id, id);
  if (!exchange) return null;
  return {
    url: exchange.url,
    request: showBody(exchange.request),
    attempts: exchange.attempts.map(({ atMs, status, answer, durationMs, errors }) => ({
      at: new Date(atMs).toISOString(),
      status,
      answer: answer && showBody(answer),
      duration_ms: durationMs === null ? null : Math.round(durationMs * 1000) / 1000,
      error: errors.get(id) ?? null,
    })),
  };
}

function describeAssistant(row: Readonly<CallRow>, twin: VoiceRuntimeTwin) {
  const { name, model, firstMessage } = twin.calls.find(row.id)?.assistant ?? twin.assistants.of(row);
  return {
    id: row.assistant_id,
    name: name ?? null,
    model: model ? { provider: model.provider, model: model.model } : null,
    first_message: firstMessage ?? null,
  };
}

/** What happened besides what was said, in media time. */
type CallEvent =
  | { type: "started"; at_ms: number; at: string }
  | { type: "interruption"; at_ms: number; position: number }
  | { type: "ended"; at_ms: number | null; at: string | null; reason: string | null };

function eventsOf(row: Readonly<CallRow>, messages: readonly Readonly<MessageRow>[]): CallEvent[] {
  const interruptions = messages
    .filter(({ interrupted }) => interrupted)
    .map(({ end_ms, position }) => ({ type: "interruption" as const, at_ms: end_ms ?? 0, position }));
  return [
    ...(row.started_at === null ? [] : [{ type: "started" as const, at_ms: 0, at: row.started_at }]),
    ...interruptions,
    ...(row.status === "ended"
      ? [{ type: "ended" as const, at_ms: row.duration_ms, at: row.ended_at, reason: row.ended_reason }]
      : []),
  ];
}

/**
 * The artifact of a call in the vendor's shapes: messages, the OpenAI-formatted conversation, the transcript.
 * Source: Artifact and CallMessagesItem of @vapi-ai/server-sdk; times are epoch milliseconds, `duration` milliseconds.
 */
import type { ConversationMessage } from "../providers/provider.ts";
import type { EndedCall } from "../session/contract.ts";
import type { MessageRow } from "../world.ts";

export interface ArtifactSource {
  /** Epoch milliseconds at which the call's audio time was 0. */
  startedAtMs: number;
  prompt: readonly ConversationMessage[];
  messages: readonly Readonly<MessageRow>[];
}

type VendorMessage = Record<string, unknown> & { role: string };

/** `messages`, `messagesOpenAIFormatted` and `transcript` of a call. */
export function artifactOf(source: ArtifactSource): Record<string, unknown> {
  return {
    messages: vendorMessages(source),
    messagesOpenAIFormatted: openAiMessages(source),
    transcript: transcriptOf(source.messages),
  };
}

function vendorMessages({ startedAtMs, prompt, messages }: ArtifactSource): VendorMessage[] {
  const system = prompt
    .filter((message) => message.role === "system")
    .map((message) => ({
      role: "system",
      message: message.content ?? "",
      time: startedAtMs,
      secondsFromStart: 0,
    }));
  return [...system, ...groupToolCalls(messages).map((group) => vendorMessage(group, startedAtMs))];
}

/** Groups tool calls that were made together into one message. */
function groupToolCalls(messages: readonly Readonly<MessageRow>[]): Readonly<MessageRow>[][] {
  const groups: Readonly<MessageRow>[][] = [];
  for (const row of messages) {
    const group = groups.at(-1);
    const before = group?.at(-1);
    if (
      group &&
      row.role === "tool_call" &&
      before?.role === "tool_call" &&
      before.start_ms === row.start_ms
    ) {
      group.push(row);
    } else groups.push([row]);
  }
  return groups;
}

function vendorMessage(group: readonly Readonly<MessageRow>[], startedAtMs: number): VendorMessage {
  const [row] = group;
  if (!row) return { role: "system", message: "", time: startedAtMs, secondsFromStart: 0 };
  const beginMs = row.start_ms ?? row.end_ms ?? 0;
  const place = { time: startedAtMs + beginMs, secondsFromStart: beginMs / 1000 };
  switch (row.role) {
    case "tool_call":
      return { role: "tool_calls", toolCalls: group.map(openAiCall), message: "", ...place };
    case "tool_result":
      return {
        role: "tool_call_result",
        name: row.name ?? "",
        result: row.text,
        toolCallId: row.tool_call_id ?? "",
        ...place,
      };
    default: {
      const endMs = row.end_ms ?? beginMs;
      return {
        role: row.role === "assistant" ? "bot" : "user",
        message: row.text,
        ...place,
        endTime: startedAtMs + endMs,
        duration: endMs - beginMs,
        ...(row.role === "assistant" ? { source: "" } : {}),
      };
    }
  }
}

/** Unlike in webhooks, arguments are always a JSON string here. */
function openAiCall(row: Readonly<MessageRow>): object {
  return {
    id: row.tool_call_id ?? "",
    type: "function",
    function: { name: row.name ?? "", arguments: JSON.stringify(row.arguments ?? {}) },
  };
}

function openAiMessages({ prompt, messages }: ArtifactSource): object[] {
  const system = prompt.map((message) => ({ role: message.role, content: message.content ?? "" }));
  const said = groupToolCalls(messages).map((group) => {
    const [row] = group;
    if (row?.role === "tool_call") return { role: "assistant", tool_calls: group.map(openAiCall) };
    if (row?.role === "tool_result")
      return { role: "tool", tool_call_id: row.tool_call_id, content: row.text };
    return { role: row?.role ?? "user", content: row?.text ?? "" };
  });
  return [...system, ...said];
}

function transcriptOf(messages: readonly Readonly<MessageRow>[]): string {
  const lines = messages
    .filter((row) => row.role === "user" || row.role === "assistant")
    .map((row) => `${row.role === "user" ? "User" : "AI"}: ${row.text}\n`);
  return lines.join("");
}

/** The vendor's `performanceMetrics`: every turn's latencies and their averages, in milliseconds. */
export function performanceMetrics(ended: EndedCall): Record<string, unknown> {
  const turns = ended.turnLatencies;
  const average = (pick: (turn: (typeof turns)[number]) => number) =>
    turns.length === 0 ? 0 : turns.reduce((sum, turn) => sum + pick(turn), 0) / turns.length;
  return {
    turnLatencies: turns,
    modelLatencyAverage: average((turn) => turn.modelLatency),
    voiceLatencyAverage: average((turn) => turn.voiceLatency),
    transcriberLatencyAverage: average((turn) => turn.transcriberLatency),
    endpointingLatencyAverage: average((turn) => turn.endpointingLatency),
    turnLatencyAverage: average((turn) => turn.turnLatency),
    numUserInterrupted: 0,
    numAssistantInterrupted: ended.userInterruptions,
  };
}

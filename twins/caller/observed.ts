/** Combines the three records of one call: the caller's report, the runtime's rows, the engine's events. */
import type { CallReport, CallTurn } from "./call-report.ts";
import type { EngineEvent, RuntimeCall, RuntimeMessage } from "./sandbox-client.ts";

export interface ObservedTurn {
  speaker: "caller" | "assistant";
  /** What was said; `null` when no record has it. */
  text: string | null;
  /** By the caller's clock. */
  startMs: number;
  endMs: number;
  /** From the caller's last audible sample to the first one heard; `null` when the turn answers nothing. */
  responseMs: number | null;
}

export interface ObservedToolCall {
  name: string;
  arguments: Record<string, unknown>;
  /** The tool's answer; `null` when none came back. */
  result: unknown;
}

/** The runtime's rows of a call; only the twin exposes them. */
export interface RuntimeRecord {
  call: RuntimeCall;
  messages: RuntimeMessage[];
}

export interface ObservedCall {
  report: CallReport;
  turns: ObservedTurn[];
  toolCalls: ObservedToolCall[];
  /** `undefined`: the runtime is not the twin. */
  runtime: RuntimeRecord | undefined;
  /** Tool calls reported to the engine; `undefined` without an engine. */
  reported: ObservedToolCall[] | undefined;
}

export function observe(
  report: CallReport,
  runtime: RuntimeRecord | undefined,
  events: readonly EngineEvent[] | undefined,
): ObservedCall {
  const reported = events?.flatMap(toolCallOf);
  const messages = runtime?.messages ?? [];
  return {
    report,
    turns: turnsOf(report, messages),
    toolCalls: runtime === undefined ? (reported ?? []) : toolCallsOf(messages),
    runtime,
    reported,
  };
}

/** The texts of one side, in order. */
export function textsOf({ runtime }: ObservedCall, role: "user" | "assistant"): string[] {
  return (runtime?.messages ?? []).filter((message) => message.role === role).map(({ text }) => text);
}

/** Parses a tool's answer as JSON, or else returns its text. */
export function readResult(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function turnsOf(report: CallReport, messages: readonly RuntimeMessage[]): ObservedTurn[] {
  const texts = assistantTexts(report.turns, messages);
  return report.turns.map((turn) => ({
    speaker: turn.speaker === "caller" ? "caller" : "assistant",
    text: turn.speaker === "caller" ? turn.text : (texts.get(turn)?.join(" ") ?? null),
    startMs: turn.startMs,
    endMs: turn.endMs,
    responseMs: turn.speaker === "caller" ? null : turn.responseMs,
  }));
}

/** Assigns the assistant's utterances to the callee's turns: each to the nearest in time, in order. */
function assistantTexts(
  turns: readonly CallTurn[],
  messages: readonly RuntimeMessage[],
): Map<CallTurn, string[]> {
  const heard = turns.filter(({ speaker }) => speaker === "callee");
  const texts = new Map<CallTurn, string[]>();
  // Both clocks count the same audio, but start at different times and drift apart on a busy machine.
  let offsetMs: number | undefined;
  let first = 0;
  for (const { role, text, start_ms } of messages) {
    if (role !== "assistant" || typeof start_ms !== "number") continue;
    offsetMs ??= (heard[0]?.startMs ?? 0) - start_ms;
    const turn = nearest(heard.slice(first), start_ms + offsetMs);
    if (turn === undefined) continue;
    const said = texts.get(turn);
    if (said === undefined) offsetMs = turn.startMs - start_ms;
    texts.set(turn, [...(said ?? []), text]);
    first = heard.indexOf(turn);
  }
  return texts;
}

function nearest(turns: readonly CallTurn[], atMs: number): CallTurn | undefined {
  const distance = ({ startMs, endMs }: CallTurn) => Math.max(startMs - atMs, atMs - endMs, 0);
  return turns.reduce<CallTurn | undefined>(
    (best, turn) => (best === undefined || distance(turn) < distance(best) ? turn : best),
    undefined,
  );
}

function toolCallsOf(messages: readonly RuntimeMessage[]): ObservedToolCall[] {
  const results = new Map(
    messages
      .filter(({ role }) => role === "tool_result")
      .map(({ tool_call_id, text }) => [tool_call_id, text]),
  );
  return messages
    .filter(({ role }) => role === "tool_call")
    .map((message) => {
      const result = results.get(message.tool_call_id);
      return {
        name: message.name ?? "",
        arguments: message.arguments ?? {},
        result: result === undefined ? null : readResult(result),
      };
    });
}

function toolCallOf({ event_type, data }: EngineEvent): ObservedToolCall[] {
  if (event_type !== "agent_tool_call" || typeof data.name !== "string") return [];
  const given = data.arguments;
  const args = typeof given === "object" && given !== null ? Object.fromEntries(Object.entries(given)) : {};
  return [{ name: data.name, arguments: args, result: data.result ?? null }];
}

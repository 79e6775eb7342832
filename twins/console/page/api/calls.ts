/** Calls as the voice twin tells them to a tester. */
import { controlPath, read } from "./client.ts";

export interface CallSummary {
  id: string;
  simulation_id: string | null;
  name: string | null;
  status: "queued" | "in-progress" | "ended";
  ended_reason: string | null;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  duration_ms: number | null;
  turns: number;
  tool_calls: string[];
  slowest_response_ms: number | null;
  /** Turns in which nothing was recognised. */
  unrecognised: number;
}

/** Where a response's time went. */
export interface Latency {
  endpointing_ms: number;
  transcriber_ms: number;
  model_ms: number;
  voice_ms: number;
  turn_ms: number;
}

export interface CallMessage {
  position: number;
  /** `unrecognised`: the caller's speech in which nothing was recognised. */
  role: "user" | "assistant" | "tool_call" | "tool_result" | "unrecognised";
  text: string;
  /** The tool. */
  name: string | null;
  arguments: Record<string, unknown> | null;
  tool_call_id: string | null;
  /** In media time. */
  start_ms: number | null;
  end_ms: number | null;
  recorded_at: string | null;
  latency: Latency | null;
  interrupted?: boolean;
}

export interface CallDetail extends CallSummary {
  messages: CallMessage[];
  assistant: {
    id: string | null;
    name: string | null;
    model: { provider: string; model: string } | null;
    first_message: string | null;
  };
}

/** @throws ApiError */
export function readCall(sandbox: string, id: string, signal: AbortSignal): Promise<CallDetail> {
  return read(controlPath(sandbox, "vapi", `calls/${encodeURIComponent(id)}`), signal);
}

/** The call of a simulation; `undefined` before there is one. @throws ApiError */
export async function readCallOfSimulation(
  sandbox: string,
  simulation: string,
  signal: AbortSignal,
): Promise<CallDetail | undefined> {
  const query = { simulation_id: simulation, order: "newest", limit: 1 };
  const path = controlPath(sandbox, "vapi", "calls", query);
  const { calls } = await read<{ calls: CallSummary[] }>(path, signal);
  const [call] = calls;
  return call && readCall(sandbox, call.id, signal);
}

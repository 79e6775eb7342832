/** What the routes of the runtime's twin and of the engine answer, as this page reads them. */

/** A line of `/sim/calls`. */
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
  tool_calls: readonly string[];
  slowest_response_ms: number | null;
  unrecognised: number;
  recording?: boolean;
}

export interface Latency {
  endpointing_ms: number;
  transcriber_ms: number;
  model_ms: number;
  voice_ms: number;
  turn_ms: number;
}

/** What was sent to the tool's server, and what it answered each time. */
export interface Webhook {
  url: string;
  request: unknown;
  attempts: readonly {
    at: string;
    status: number | null;
    answer: unknown;
    duration_ms: number | null;
    error: string | null;
  }[];
}

export interface CallMessage {
  position: number;
  role: "user" | "assistant" | "tool_call" | "tool_result" | "unrecognised";
  text: string;
  name: string | null;
  arguments: Record<string, unknown> | null;
  tool_call_id: string | null;
  /** In media time: samples counted, not a clock. */
  start_ms: number | null;
  end_ms: number | null;
  /** By the sandbox's clock. */
  recorded_at: string | null;
  latency: Latency | null;
  interrupted?: boolean;
  webhook?: Webhook | null;
}

export interface CallDetails extends CallSummary {
  messages: readonly CallMessage[];
  assistant: {
    name: string | null;
    model: { provider?: string; model?: string } | null;
    first_message?: string | null;
  } | null;
}

/** The verdict of a simulated caller, as the list needs it. */
export interface Verdict {
  passed: boolean;
  failures: readonly string[];
  unchecked: readonly string[];
  outcome: string | null;
  ended_by: string | null;
}

/** A line of the engine's `/sim/simulations`. */
export interface SimulationSummary {
  id: string;
  scenario: string | null;
  verdict: Verdict | null;
}

/** A turn as the caller counted it; times are the caller's clock. */
export interface ReportedTurn {
  speaker: "caller" | "assistant";
  sample?: string;
  text: string | null;
  start_ms: number;
  end_ms: number;
  response_ms: number | null;
  interrupted?: boolean;
  cut_off?: boolean;
}

/** The event `call_report`. */
export interface CallReport extends Verdict {
  scenario?: string;
  reason?: string;
  duration_ms?: number;
  turns: readonly ReportedTurn[];
}

/** A row of the engine's table `simulations`. */
export interface Simulation {
  id: string;
  scenario: string | null;
  metadata: {
    scenario_file?: string;
    scenario_text?: string;
    speed?: number;
    framing?: string;
  };
}

/** A row of the engine's table `events`. */
export interface SimulationEvent {
  id: string;
  service: string;
  event_type: string;
  data: Record<string, unknown>;
  received_at: string;
}

/** A page of `/sim/recordings/{id}/peaks`. */
export interface PeaksAnswer {
  resolution_ms: number;
  duration_ms: number;
  /** Base64 of pairs of signed bytes: lowest and highest. */
  lanes: { caller: string; assistant: string };
  state: string;
  /** Whether there is nothing after this. */
  complete: boolean;
}

/** What the caller tells the engine of a call: how to place it again before it, the verdict after it. */
import type { CallTurn } from "./call-report.ts";
import type { Judgement } from "./judge.ts";
import type { Framing } from "./line.ts";
import type { ObservedCall, ObservedTurn } from "./observed.ts";
import type { EngineEvent } from "./sandbox-client.ts";
import type { Scenario } from "./scenario-file.ts";

/** A longer scenario is not kept with its simulation. */
const MAX_SCENARIO_BYTES = 64 * 1024;
/** Bounds of a verdict: failures quote results of tools, and a callee may take any number of turns. */
const MAX_ENTRIES = 500;
const MAX_TEXT_CHARACTERS = 1_000;

/** Metadata of a simulation: what another caller needs to place the same call. */
export interface SimulationMetadata extends Record<string, unknown> {
  /** Name of the scenario's file, without folders. */
  scenario_file: string;
  /** The file's text; absent when longer than 64 KB. */
  scenario_text?: string;
  speed: number;
  framing: Framing;
}

export function simulationMetadata(
  { file, text }: Scenario,
  { speed, framing }: { speed: number; framing: Framing },
): SimulationMetadata {
  const scenario_file = file.split(/[\\/]/).at(-1) ?? file;
  const short = Buffer.byteLength(text) <= MAX_SCENARIO_BYTES;
  return { scenario_file, speed, framing, ...(short ? { scenario_text: text } : {}) };
}

/** The event `call_report` of a judged call. Times are milliseconds of the caller's clock. */
export function callReportEvent(
  { name }: Scenario,
  { report, turns }: ObservedCall,
  { failures, unchecked }: Judgement,
): EngineEvent {
  return {
    service: "caller",
    event_type: "call_report",
    data: {
      scenario: name,
      passed: failures.length === 0,
      failures: failures.slice(0, MAX_ENTRIES).map(cut),
      unchecked: unchecked.slice(0, MAX_ENTRIES).map(cut),
      outcome: report.outcome,
      ended_by: report.endedBy,
      reason: cut(report.reason),
      duration_ms: report.durationMs,
      setup_ms: report.setupMs,
      turns: report.turns.slice(0, MAX_ENTRIES).map((turn, index) => describeTurn(turn, turns[index])),
    },
  };
}

function describeTurn(turn: CallTurn, observed: ObservedTurn | undefined): Record<string, unknown> {
  const times = { start_ms: turn.startMs, end_ms: turn.endMs };
  if (turn.speaker === "caller") {
    const { sample, text, cutOff } = turn;
    return { speaker: "caller", sample, text: cut(text), ...times, response_ms: null, cut_off: cutOff };
  }
  const text = observed?.text ?? null;
  return {
    speaker: "assistant",
    text: text === null ? null : cut(text),
    ...times,
    response_ms: turn.responseMs,
    interrupted: turn.interrupted,
  };
}

function cut(text: string): string {
  return text.length <= MAX_TEXT_CHARACTERS ? text : `${text.slice(0, MAX_TEXT_CHARACTERS - 1)}…`;
}

/** The result of a run, as printed by `npm run dial -- --json`. */
import type { Outcome } from "./call-report.ts";
import type { ObservedToolCall, ObservedTurn } from "./observed.ts";
import type { ScenarioRun } from "./run-scenario.ts";
import type { TraceLine } from "./sandbox-client.ts";

interface CallResult {
  outcome: Outcome;
  durationMs: number;
  /** Wall-clock time from dialling to the first audio; `null` when nobody answered. */
  setupMs: number | null;
  turns: ObservedTurn[];
  toolCalls: ObservedToolCall[];
  failures: string[];
  /** Agent reports, requests to twins and utterances in time order; `null` without an engine. */
  trace: TraceLine[] | null;
  /** Its OpenTelemetry trace; absent when it has none. */
  traceId?: string;
}

export interface RunResult {
  /** The names of the scenarios, separated by commas. */
  scenario: string;
  passed: boolean;
  /** In the order of dialling; with several scenarios each call names its own. */
  calls: (CallResult & { scenario?: string })[];
}

export function resultOf(runs: readonly ScenarioRun[]): RunResult {
  const names = [...new Set(runs.map(({ scenario }) => scenario.name))];
  return {
    scenario: names.join(", "),
    passed: runs.every(({ passed }) => passed),
    calls: runs.map((run) => ({
      ...(names.length > 1 ? { scenario: run.scenario.name } : {}),
      outcome: run.report.outcome,
      durationMs: run.report.durationMs,
      setupMs: run.report.setupMs,
      turns: run.turns,
      toolCalls: run.toolCalls,
      failures: run.failures,
      trace: run.trace ?? null,
      ...(run.report.traceId === undefined ? {} : { traceId: run.report.traceId }),
    })),
  };
}

/** Places one call of a campaign with the simulated caller. */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SampleLibrary } from "@offhook/audio/sample-library";
import { wasHeldUp } from "@offhook/caller/pacer";
import { resultOf } from "@offhook/caller/result";
import { runScenario, type ScenarioRun } from "@offhook/caller/run-scenario";
import type { SandboxClient } from "@offhook/caller/sandbox-client";
import { parseScenario, type Scenario } from "@offhook/caller/scenario-file";
import type { Telemetry } from "@offhook/platform/telemetry/telemetry";
import { isKept, type Keepable } from "./keep.ts";
import type { CallKey, CallRecord, Campaign, Variant } from "./records.ts";

/** A call to place. */
export interface CallOrder {
  campaign: Campaign;
  key: CallKey;
  variant: Variant;
  scenarioText: string;
  /** For what is drawn in the call. */
  seed: number;
  /** Counts from 1. */
  attempt: number;
}

/** What came of a call that could be judged. */
export interface PlacedCall
  extends Pick<CallRecord, "failures" | "outcome" | "durationMs" | "responseMs" | "heldUp" | "toolCalls"> {
  verdict: "passed" | "failed";
  keepable: Keepable;
}

/** Whom to call, and through which twins to look at it. */
export interface Callee {
  url: string;
  /** The twins behind the agent; without them only the audio is judged. */
  sandbox?: SandboxClient | undefined;
  headers?: Record<string, string>;
}

/** What a place for calls has at hand. */
export interface CallPlace {
  callee: Callee;
  samples: SampleLibrary;
  /** Where a recording is written until it is kept or dropped; one call at a time uses it. */
  recordingFile: string;
  /** Where the traces of the calls go. */
  telemetry: Telemetry;
}

/** Nobody could be called, so there is nothing to judge; another attempt may reach somebody. */
class NotPlacedError extends Error {
  override name = "NotPlacedError";
}

/**
 * @throws NotPlacedError, SandboxError when the twins do not answer, ScenarioError when the scenario cannot be used
 */
export async function placeCall(order: CallOrder, place: CallPlace): Promise<PlacedCall> {
  const { campaign, variant } = order;
  const { callee, recordingFile, telemetry } = place;
  const { keep } = campaign.spec;
  const scenario = scenarioOf(order, place.samples);
  try {
    const run = await runScenario(scenario, {
      ...callee,
      telemetry,
      speed: variant.speed ?? campaign.spec.speed,
      ...(variant.framing === undefined ? {} : { framing: variant.framing }),
      ...(keep === "none" ? {} : { recordingFile }),
    });
    requirePlaced(run, callee);
    const verdict = run.passed ? "passed" : "failed";
    return {
      verdict,
      failures: run.failures,
      outcome: run.report.outcome,
      durationMs: run.report.durationMs,
      responseMs: run.turns.flatMap(({ responseMs }) => responseMs ?? []),
      heldUp: wasHeldUp(run.report.pacing),
      toolCalls: run.toolCalls.map(({ name }) => name),
      keepable: isKept(keep, verdict) ? await keepableOf(run, recordingFile) : NOTHING,
    };
  } finally {
    await rm(recordingFile, { force: true });
  }
}

const NOTHING: Keepable = { report: null, trace: null, audio: null };

/** The scenario with the faults of the variant besides its own; what is drawn for them follows the seed of the call. */
function scenarioOf({ key, variant, scenarioText, seed }: CallOrder, samples: SampleLibrary): Scenario {
  const scenario = parseScenario(
    { file: join("samples", `${key.scenario}.yaml`), text: scenarioText },
    samples,
  );
  const faults: Scenario["faults"] = {};
  for (const source of [scenario.faults, variant.faults ?? {}]) {
    for (const [service, wanted] of Object.entries(source)) {
      const seeded = wanted.map((fault) => ("probability" in fault ? { seed, ...fault } : fault));
      faults[service] = [...(faults[service] ?? []), ...seeded];
    }
  }
  return { ...scenario, faults };
}

/** @throws NotPlacedError when the line never opened, unless the scenario is about that */
function requirePlaced({ report, scenario }: ScenarioRun, { url }: Callee): void {
  const opened = report.closeCode !== undefined || report.setupMs !== null;
  if (opened || scenario.expect.outcome === "callee_no_answer") return;
  throw new NotPlacedError(`${url} was not reached: ${report.reason}`);
}

async function keepableOf(run: ScenarioRun, recordingFile: string): Promise<Keepable> {
  const [call] = resultOf([run]).calls;
  return {
    report: call === undefined ? null : { ...call, trace: undefined },
    trace: run.trace ?? null,
    audio: await readFile(recordingFile).catch(() => null), // There is none of a line that never opened.
  };
}

/** Prints the outcome of calls: verdict, summary, and the records of the twins. */
import { wasHeldUp } from "@offhook/caller/pacer";
import type { ScenarioRun } from "@offhook/caller/run-scenario";
import type { SandboxClient } from "@offhook/caller/sandbox-client";
import { seconds, type Terminal } from "./terminal.ts";

const RECORD_INDENT = " ".repeat("database  ".length);

/** Prints the verdict on one call, with every failed expectation. */
export function printVerdict(run: ScenarioRun, terminal: Terminal): void {
  const { bold, good, bad, dim, wrap } = terminal;
  const verdict = run.passed ? "passed" : "failed";
  const { durationMs, setupMs, outcome } = run.report;
  const setup = setupMs === null ? "no answer" : `answered after ${setupMs} ms`;
  wrap(`${run.scenario.name}  ${outcome}, ${seconds(durationMs)} of call, ${setup}`, {
    indent: " ".repeat(verdict.length + 2),
    head: `${bold((run.passed ? good : bad)(verdict))}  `,
  });
  for (const failure of run.failures) wrap(failure, { indent: "    ", head: `  ${bad("✗")} ` });
  if (outcome === "callee_no_answer" && run.report.closeCode === undefined) {
    note("is the agent running there? npm run dev starts one; --url says where another is");
  }
  for (const unchecked of run.unchecked) note(`not checked: ${unchecked}`);
  const { latenessP50Ms, latenessP99Ms, latenessMaxMs, slippedMs, speed } = run.report.pacing;
  const pacing = `frames late: p50 ${latenessP50Ms} ms, p99 ${latenessP99Ms} ms, at most ${latenessMaxMs} ms; speed kept ${speed.toFixed(2)}`;
  note(pacing);
  if (wasHeldUp(run.report.pacing)) {
    note(`this machine was too busy for the speed (${slippedMs} ms of audio time lost): trust no latency`);
  }

  function note(text: string): void {
    wrap(text, { indent: "  ", style: dim });
  }
}

/** Prints one line about many calls. */
export function printSummary(runs: readonly ScenarioRun[], wallMs: number, terminal: Terminal): void {
  const failed = runs.filter(({ passed }) => !passed);
  const { bold, good, bad, line } = terminal;
  const count = `${runs.length} call${runs.length === 1 ? "" : "s"}`;
  const verdict = failed.length === 0 ? good("all passed") : bad(`${failed.length} failed`);
  line(bold(`${count} in ${seconds(wallMs)}: ${verdict}`));
}

/**
 * Prints where a browser shows a call, or of several the list of them. Prints nothing without a console, and nothing for
 * calls that the runtime of the sandbox did not have.
 */
export async function printConsoleAddress(
  runs: readonly ScenarioRun[],
  sandbox: SandboxClient,
  { dim, line }: Terminal,
): Promise<void> {
  const ids = runs.flatMap(({ runtime }) => (runtime === undefined ? [] : [runtime.call.id]));
  const [first] = ids;
  if (first === undefined) return;
  const address = await sandbox.consoleAddress(runs.length === 1 ? `/calls/${first}` : "/calls");
  // On one line, for copying.
  if (address !== undefined) line(dim(`  see and hear ${runs.length === 1 ? "it" : "them"}  ${address}`));
}

/** Prints the database rows and the engine events of a call. */
export function printRecords({ databaseRows, reported }: ScenarioRun, terminal: Terminal): void {
  const { bold, dim, line, wrap, cut } = terminal;
  for (const { table, rows } of databaseRows) {
    line(`${bold("database")}  ${table}${rows.length === 0 ? dim(" no such row") : ""}`);
    for (const row of rows) {
      const pairs = Object.entries(row).map(([column, value]) => `${column}=${text(value)}`);
      wrap(pairs.join("  "), { indent: RECORD_INDENT });
    }
  }
  for (const { name, result } of reported ?? []) {
    cut(`agent_tool_call ${name} ${JSON.stringify(result)}`, {
      indent: RECORD_INDENT,
      head: `${bold("engine")}    `,
    });
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** `npm run dial`: the simulated caller calls an agent. `USAGE` says how. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { resultOf } from "@offhook/caller/result";
import { runScenario, type ScenarioRun } from "@offhook/caller/run-scenario";
import { SandboxClient, SandboxError } from "@offhook/caller/sandbox-client";
import { findScenarioFiles, readScenario, type Scenario, ScenarioError } from "@offhook/caller/scenario-file";
import { UsageError } from "@offhook/platform/server/command-line";
import { onNpmGone, onReaderGone } from "@offhook/platform/server/end-with-caller";
import { TelemetryError } from "@offhook/platform/telemetry/start";
import type { Telemetry } from "@offhook/platform/telemetry/telemetry";
import {
  type CommandLine,
  type DialOptions,
  findCallee,
  namedAgent,
  readCommandLine,
  USAGE,
} from "./dial/options.ts";
import { ConversationPrinter } from "./shared/conversation.ts";
import { waitForDev } from "./shared/dev-state.ts";
import { SAMPLES_FOLDER, SCENARIOS_FOLDER } from "./shared/folders.ts";
import { runAll } from "./shared/run-all.ts";
import { startCallerTelemetry } from "./shared/telemetry.ts";
import { terminalOf } from "./shared/terminal.ts";
import { printConsoleAddress, printSummary, printVerdict } from "./shared/verdict.ts";

const ENVIRONMENT_FILE = ".env";
const NOTHING_CALLED = 2;
const INTERRUPTED = 130;
/** Time in which an interrupted run removes what it gave to the twins. */
const WITHDRAW_MS = 3_000;

let sandbox: SandboxClient | undefined;
let telemetry: Telemetry | undefined;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, () => interrupt(INTERRUPTED));
onReaderGone(() => interrupt(0));
onNpmGone(() => interrupt(INTERRUPTED));

try {
  if (existsSync(ENVIRONMENT_FILE)) process.loadEnvFile(ENVIRONMENT_FILE);
  process.exitCode = await dial(readCommandLine(process.argv.slice(2)));
} catch (error) {
  const expected = [UsageError, ScenarioError, SandboxError, TelemetryError].some(
    (kind) => error instanceof kind,
  );
  console.error(error instanceof Error && expected ? error.message : error);
  process.exitCode = NOTHING_CALLED;
}

/** @returns the exit status */
async function dial(line: CommandLine | undefined): Promise<number> {
  if (line === undefined) {
    console.log(USAGE);
    return 0;
  }
  await waitForAgent(namedAgent(line, process.env), line);
  const options = findCallee(line, process.env);
  const samples = readSampleLibrary(SAMPLES_FOLDER);
  const scenarios = findScenarioFiles(options.scenarios, SCENARIOS_FOLDER).map((file) =>
    readScenario(file, samples),
  );
  telemetry = await startCallerTelemetry();
  sandbox = options.sandbox === undefined ? undefined : await SandboxClient.connect(options.sandbox);
  try {
    const runs = await placeCalls(scenarios, options);
    if (options.json) process.stdout.write(`${JSON.stringify(resultOf(runs), null, 2)}\n`);
    return runs.every(({ passed }) => passed) ? 0 : 1;
  } finally {
    sandbox?.close();
    await telemetry.stop();
  }
}

async function placeCalls(scenarios: readonly Scenario[], options: DialOptions): Promise<ScenarioRun[]> {
  const terminal = terminalFor(options);
  const calls = scenarios.flatMap((scenario) =>
    Array.from({ length: options.calls }, (_, index) => ({ scenario, number: index + 1 })),
  );
  const oneByOne = !options.json && (options.concurrency === 1 || calls.length === 1);
  if (!options.json && sandbox === undefined) {
    terminal.line(terminal.dim("no twins: the calls are judged by their audio alone"));
  }
  const startedAt = performance.now();
  const runs = await runAll(calls, options.concurrency, async ({ scenario, number }) => {
    await waitForAgent(options.url, options);
    const printer = oneByOne ? new ConversationPrinter(terminal) : undefined;
    if (printer) printHeading(scenario, options);
    const run = await runScenario(scenario, {
      url: options.url,
      speed: options.speed,
      headers: options.headers,
      sandbox,
      ...(options.framing === undefined ? {} : { framing: options.framing }),
      recordingFile: recordingFile(options, scenario, number),
      telemetry,
      onEvent: printer && ((event) => printer.print(event)),
    });
    printer?.finish(run);
    if (!options.json) printVerdict(run, terminal);
    if (calls.length === 1) await printAddress([run]);
    if (printer) terminal.line();
    return run;
  });
  if (runs.length > 1) {
    if (!options.json) printSummary(runs, performance.now() - startedAt, terminal);
    await printAddress(runs);
  }
  return runs;

  async function printAddress(some: readonly ScenarioRun[]): Promise<void> {
    if (!options.json && sandbox !== undefined) await printConsoleAddress(some, sandbox, terminal);
  }

  function printHeading(scenario: Scenario, { url, speed }: DialOptions): void {
    const framing = options.framing ?? scenario.framing ?? "binary";
    const { name, description } = scenario;
    const head = `${terminal.bold(name)}  `;
    terminal.wrap(description, { head, indent: " ".repeat(name.length + 2) });
    terminal.wrap(`calling ${url}, ${framing} framing, speed ${speed}`, { style: terminal.dim });
  }
}

/** Waits while `npm run dev` restarts the agent. @throws UsageError when it does not come back */
async function waitForAgent(url: string | undefined, options: Pick<DialOptions, "json">): Promise<void> {
  const { line, dim } = terminalFor(options);
  await waitForDev(url, (reason) => line(dim(`waiting for npm run dev: ${reason}`)));
}

/** With --json, standard output is reserved for the object. */
function terminalFor({ json }: Pick<DialOptions, "json">) {
  return terminalOf(json ? process.stderr : process.stdout);
}

/** Exits in the middle of calls; their lines close with the process. */
function interrupt(exitCode: number): void {
  setTimeout(() => process.exit(exitCode), WITHDRAW_MS);
  const withdrawal = sandbox?.withdraw() ?? Promise.resolve();
  void withdrawal.catch(() => undefined).finally(() => process.exit(exitCode));
}

function recordingFile({ recordFolder, calls }: DialOptions, scenario: Scenario, number: number) {
  if (recordFolder === undefined) return undefined;
  return join(recordFolder, `${scenario.name}${calls === 1 ? "" : `-${number}`}.wav`);
}

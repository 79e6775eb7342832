/** `npm run load`: a load test of an agent with the simulated caller. `USAGE` says how. */
import { existsSync } from "node:fs";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { SandboxError } from "@offhook/caller/sandbox-client";
import { findScenarioFiles, readScenario, ScenarioError } from "@offhook/caller/scenario-file";
import { UsageError } from "@offhook/platform/server/command-line";
import { onNpmGone, onReaderGone } from "@offhook/platform/server/end-with-caller";
import { startChild } from "@offhook/platform/testing/bench/child";
import { namedAgent } from "./dial/options.ts";
import { DeploymentError, DeploymentMonitor } from "./load/deployment.ts";
import { type CommandLine, type LoadOptions, readCommandLine, readOptions, USAGE } from "./load/options.ts";
import { ProgressLine, printPlan, printResult } from "./load/print.ts";
import type { CallerQuestions } from "./load/questions.ts";
import { type LoadResult, runLoad } from "./load/run.ts";
import { prepareTwins } from "./load/script.ts";
import { waitForDev } from "./shared/dev-state.ts";
import { SAMPLES_FOLDER, SCENARIOS_FOLDER } from "./shared/folders.ts";
import { terminalOf } from "./shared/terminal.ts";

const ENVIRONMENT_FILE = ".env";
const INCOMPLETE = 1;
const NOTHING_CALLED = 2;
const INTERRUPTED = 130;

/** A signal that comes again so soon is the same one. */
const SAME_SIGNAL_MS = 500;

const interruption = new AbortController();
let interruptedAt = 0;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);
onReaderGone(interrupt);
onNpmGone(interrupt);

try {
  if (existsSync(ENVIRONMENT_FILE)) process.loadEnvFile(ENVIRONMENT_FILE);
  process.exitCode = await load(readCommandLine(process.argv.slice(2)));
} catch (error) {
  const expected = [UsageError, ScenarioError, SandboxError, DeploymentError].some(
    (kind) => error instanceof kind,
  );
  console.error(error instanceof Error && expected ? error.message : error);
  process.exitCode = NOTHING_CALLED;
}

/** @returns the exit status */
async function load(line: CommandLine | undefined): Promise<number> {
  if (line === undefined) {
    console.log(USAGE);
    return 0;
  }
  const { line: print, dim } = terminalOf(process.stderr);
  await waitForDev(namedAgent(line, process.env), (reason) =>
    print(dim(`waiting for npm run dev: ${reason}`)),
  );
  const options = readOptions(line, process.env);
  // With --json, standard output is reserved for the object.
  const stream = options.json ? process.stderr : process.stdout;
  const terminal = terminalOf(stream);
  const result = await measure(options, stream);
  if (options.json) process.stdout.write(`${JSON.stringify({ ...describe(options), ...result }, null, 2)}\n`);
  else printResult(result, terminal);
  if (result.interrupted) return INTERRUPTED;
  const answered = result.phases.some((phase) => phase.answered > 0);
  return answered && result.phases.every(({ refused }) => refused === null) ? 0 : INCOMPLETE;
}

async function measure(options: LoadOptions, stream: NodeJS.WriteStream): Promise<LoadResult> {
  const { callee, knee, metricsUrl } = options;
  const [scenarioFile = "", ...others] = findScenarioFiles([options.scenario], SCENARIOS_FOLDER);
  if (others.length > 0) throw new UsageError("--scenario takes one: all calls of a load test say the same");
  const scenario = readScenario(scenarioFile, readSampleLibrary(SAMPLES_FOLDER));
  const monitor = metricsUrl === undefined ? undefined : new DeploymentMonitor(metricsUrl);
  await monitor?.check();
  printPlan(options, terminalOf(stream));
  const twins = await prepareTwins(callee, scenario);
  const program = new URL("./load/caller-program.ts", import.meta.url);
  const processes = Array.from({ length: options.processes }, () => startChild<CallerQuestions>(program));
  const progress = new ProgressLine(stream);
  try {
    return await runLoad(
      {
        caller: {
          url: callee.url,
          framing: callee.framing ?? scenario.framing ?? "binary",
          headers: { ...callee.headers, ...twins.headers },
          scenarioFile,
        },
        calls: options.calls,
        rate: options.rate,
        plateauSeconds: options.plateauSeconds,
        ...(knee === undefined ? {} : { knee }),
      },
      { processes, monitor, signal: interruption.signal, onProgress: (one) => progress.update(one) },
    );
  } finally {
    progress.clear();
    monitor?.endPlateau();
    await Promise.all(processes.map((one) => one.stop()));
    await twins.close().catch(() => undefined);
  }
}

/** The first time ends the calls in order, the second time at once. npm passes on a signal that came to both. */
function interrupt(): void {
  if (interruption.signal.aborted && performance.now() - interruptedAt > SAME_SIGNAL_MS)
    process.exit(INTERRUPTED);
  if (!interruption.signal.aborted) interruptedAt = performance.now();
  interruption.abort();
}

function describe({ callee, scenario, calls, rate, plateauSeconds }: LoadOptions) {
  return { url: callee.url, scenario, calls, rate, plateauSeconds };
}

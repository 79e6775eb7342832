/**
 * `npm run demo`: starts twins and an agent on free ports, places a phone call in a sandbox, and prints the outcome.
 * Needs no key, no network and no environment variables (only RECORD_DIR reaches the agent); leaves nothing running. With
 * --keep all of it stays until Ctrl-C.
 */
import path from "node:path";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { runScenario, type ScenarioRun } from "@offhook/caller/run-scenario";
import {
  findScenarioFiles,
  firstScenario,
  readScenario,
  type Scenario,
  ScenarioError,
} from "@offhook/caller/scenario-file";
import { readArguments, UsageError } from "@offhook/platform/server/command-line";
import { onNpmGone, onReaderGone } from "@offhook/platform/server/end-with-caller";
import { OwnFolderError } from "@offhook/platform/server/locator";
import { z } from "zod";
import { ConfigError } from "../agent/config.ts";
import { ConversationPrinter } from "./shared/conversation.ts";
import { SAMPLES_FOLDER, SCENARIOS_FOLDER } from "./shared/folders.ts";
import type { House, Stage } from "./shared/house.ts";
import type { PartsTelemetry } from "./shared/telemetry.ts";
import { seconds, terminalOf } from "./shared/terminal.ts";
import { printConsoleAddress, printRecords, printSummary, printVerdict } from "./shared/verdict.ts";

/** On a terminal the default is real time, for reading along. */
const SPEED_WITHOUT_TERMINAL = 10;
const INTERRUPTED = 130;
const USAGE = `npm run demo -- [scenario…] [--all] [--speed N] [--keep]

  scenario   names of files in samples/scenarios (default: the first of them)
  --all      every scenario, one after the other
  --speed N  times faster than real time; default: 1 on a terminal, ${SPEED_WITHOUT_TERMINAL} elsewhere
  --keep     twins and agents stay until Ctrl-C, and a browser shows the call: the address is printed

RECORD_DIR=DIR has the agent record each call there, as it does by itself: stereo WAV and timeline.`;
const KEEP_HINT = "npm run demo -- --keep  shows the call in a browser, with its sound";

const terminal = terminalOf(process.stdout);
let house: Promise<House> | undefined;
let telemetry: PartsTelemetry | undefined;
/** Exit status after a signal: once the calls are over, theirs. */
let interruptedStatus = INTERRUPTED;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => interrupt(interruptedStatus));
}
onReaderGone(() => interrupt(0));
onNpmGone(() => interrupt(interruptedStatus));

try {
  process.exitCode = await demo();
} catch (error) {
  const expected = [UsageError, ScenarioError, OwnFolderError, ConfigError].some(
    (kind) => error instanceof kind,
  );
  console.error(error instanceof Error && expected ? error.message : error);
  process.exitCode = 2;
} finally {
  await stopHouse();
}

function interrupt(exitCode: number): void {
  void stopHouse().finally(() => process.exit(exitCode));
}

/** @returns the exit status */
async function demo(): Promise<number> {
  const options = readOptions();
  if (options === undefined) {
    console.log(USAGE);
    return 0;
  }
  const { scenarios: wanted, speed, keep } = options;
  const startedAt = performance.now();
  const samples = readSampleLibrary(SAMPLES_FOLDER);
  const scenarios = findScenarioFiles(wanted, SCENARIOS_FOLDER).map((file) => readScenario(file, samples));
  const { dim, wrap } = terminal;
  wrap("the twins start; the first start makes the datasets and takes longer", { style: dim });
  const recordings = process.env.RECORD_DIR ?? "";
  // Import late: twins and agent take long to load, and the user should see progress before.
  const { startPartsTelemetry } = await import("./shared/telemetry.ts");
  const traced = await startPartsTelemetry();
  telemetry = traced;
  house = import("./shared/house.ts").then(({ startHouse }) =>
    startHouse({
      telemetry: traced,
      onProgress: (what) => wrap(what, { indent: "  ", style: dim }),
      agentVariables: recordings === "" ? {} : { RECORD_DIR: recordings },
      onStarted: (what, where, tookMs) =>
        wrap(`${what.padEnd(32)} ${where}  ${seconds(tookMs)}`, {
          indent: "  ",
          head: `${terminal.good("✓")} `,
        }),
    }),
  );
  const { openStage, openFirstStage, twins } = await house;
  terminal.line(
    terminal.dim(
      `ready after ${seconds(performance.now() - startedAt)}; calling at speed ${speed} (--speed changes it)`,
    ),
  );
  const runs: ScenarioRun[] = [];
  // A browser can call the agent of the first sandbox; several scenarios need one each, lest they see each other's rows.
  const open = keep && scenarios.length === 1 ? openFirstStage : openStage;
  for (const scenario of scenarios) {
    const stage = await open();
    const run = await show(scenario, stage, speed);
    runs.push(run);
    if (keep) await printConsoleAddress([run], stage.sandbox, terminal);
    else await stage.close();
  }
  if (recordings !== "") wrap(`the agent's recordings are in ${path.resolve(recordings)}`);
  if (runs.length > 1) printSummary(runs, performance.now() - startedAt, terminal);
  const status = runs.every(({ passed }) => passed) ? 0 : 1;
  if (keep) return stay(status);
  if (twins.console !== undefined) wrap(KEEP_HINT, { indent: "  ", style: dim });
  return status;
}

/** Leaves twins and agents running until a signal, which ends the process with this exit status. */
function stay(status: number): Promise<never> {
  interruptedStatus = status;
  terminal.line();
  terminal.line("twins and agents stay until Ctrl-C");
  return new Promise(() => undefined);
}

async function show(scenario: Scenario, { voiceUrl, sandbox }: Stage, speed: number) {
  terminal.line();
  const { name, description } = scenario;
  terminal.wrap(description, { head: `${terminal.bold(name)}  `, indent: " ".repeat(name.length + 2) });
  const printer = new ConversationPrinter(terminal);
  const run = await runScenario(scenario, {
    url: voiceUrl,
    speed,
    sandbox,
    telemetry: telemetry?.caller,
    onEvent: (event) => printer.print(event),
  });
  printer.finish(run);
  terminal.line();
  printRecords(run, terminal);
  printVerdict(run, terminal);
  return run;
}

/** @returns `undefined` for --help */
function readOptions(): { scenarios: string[]; speed: number; keep: boolean } | undefined {
  const given = readArguments(USAGE, {
    all: { type: "boolean", default: false },
    speed: { type: "string" },
    keep: { type: "boolean", default: false },
  });
  if (given === undefined) return undefined;
  const { values, positionals } = given;
  const speed = z.coerce
    .number()
    .min(0.1)
    .max(50)
    .safeParse(values.speed ?? defaultSpeed());
  if (!speed.success) throw new UsageError(`--speed must be a number from 0.1 to 50\n\n${USAGE}`);
  const named = positionals.length === 0 ? [firstScenario(SCENARIOS_FOLDER)] : positionals;
  return { scenarios: values.all ? ["all"] : named, speed: speed.data, keep: values.keep };
}

function defaultSpeed(): number {
  return process.stdout.isTTY ? 1 : SPEED_WITHOUT_TERMINAL;
}

/** Stops the house, after its start if that is still in progress. */
async function stopHouse(): Promise<void> {
  const running = await house?.catch(() => undefined);
  house = undefined;
  await running?.stop();
  await telemetry?.stop();
}

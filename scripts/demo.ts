/**
 * `npm run demo`: twins and an agent on free ports, a phone call in a sandbox of its own, what came of it. Needs no key,
 * no network, no environment; leaves nothing running.
 */
import { parseArgs } from "node:util";
import { z } from "zod";
import { readSampleLibrary } from "../twins/audio/sample-library.ts";
import { runScenario, type ScenarioRun } from "../twins/caller/run-scenario.ts";
import {
  findScenarioFiles,
  readScenario,
  type Scenario,
  ScenarioError,
} from "../twins/caller/scenario-file.ts";
import { ConversationPrinter } from "./shared/conversation.ts";
import { SAMPLES_FOLDER, SCENARIOS_FOLDER } from "./shared/folders.ts";
import { type House, type Stage, startHouse } from "./shared/house.ts";
import { seconds, terminalOf } from "./shared/terminal.ts";
import { UsageError } from "./shared/usage.ts";
import { printSummary, printVerdict } from "./shared/verdict.ts";
import { printWitnesses } from "./shared/witnesses.ts";

const DEMO_SCENARIO = "open-incident";
/** A person reads along in real time; a machine need not wait. */
const SPEED_WITHOUT_TERMINAL = 10;
const INTERRUPTED = 130;
const USAGE = `npm run demo -- [scenario…] [--all] [--speed N]

  scenario   names of files in samples/scenarios (default: ${DEMO_SCENARIO})
  --all      every scenario, one after the other
  --speed N  times faster than real time; default: 1 on a terminal, ${SPEED_WITHOUT_TERMINAL} elsewhere`;

const terminal = terminalOf(process.stdout);
let house: Promise<House> | undefined;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => void stopHouse().finally(() => process.exit(INTERRUPTED)));
}

try {
  process.exitCode = await demo();
} catch (error) {
  console.error(error instanceof UsageError || error instanceof ScenarioError ? error.message : error);
  process.exitCode = 2;
} finally {
  await stopHouse();
}

/** @returns the exit status */
async function demo(): Promise<number> {
  const { scenarios: wanted, speed, help } = readOptions();
  if (help) {
    console.log(USAGE);
    return 0;
  }
  const startedAt = performance.now();
  const samples = readSampleLibrary(SAMPLES_FOLDER);
  const scenarios = findScenarioFiles(wanted, SCENARIOS_FOLDER).map((file) => readScenario(file, samples));
  house = startHouse({
    onStarted: (what, where, tookMs) =>
      terminal.line(
        `${terminal.good("✓")} ${what.padEnd(32)} ${terminal.dim(`${where}  ${seconds(tookMs)}`)}`,
      ),
  });
  const { openStage } = await house;
  terminal.line(
    terminal.dim(
      `ready after ${seconds(performance.now() - startedAt)}; calling at speed ${speed} (--speed changes it)`,
    ),
  );
  const runs: ScenarioRun[] = [];
  for (const scenario of scenarios) {
    const stage = await openStage();
    runs.push(await show(scenario, stage, speed));
    await stage.close();
  }
  if (runs.length > 1) printSummary(runs, performance.now() - startedAt, terminal);
  return runs.every(({ passed }) => passed) ? 0 : 1;
}

async function show(scenario: Scenario, { voiceUrl, sandbox }: Stage, speed: number) {
  terminal.line();
  terminal.line(`${terminal.bold(scenario.name)}  ${scenario.description}`);
  const printer = new ConversationPrinter(terminal);
  const run = await runScenario(scenario, {
    url: voiceUrl,
    speed,
    sandbox,
    onEvent: (event) => printer.print(event),
  });
  printer.finish(run);
  terminal.line();
  printWitnesses(run, terminal);
  printVerdict(run, terminal);
  return run;
}

function readOptions(): { scenarios: string[]; speed: number; help: boolean } {
  const options = {
    all: { type: "boolean", default: false },
    speed: { type: "string" },
    help: { type: "boolean", short: "h", default: false },
  } as const;
  let given: { values: { all: boolean; speed?: string; help: boolean }; positionals: string[] };
  try {
    given = parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
  const speed = z.coerce
    .number()
    .min(0.1)
    .max(50)
    .safeParse(given.values.speed ?? defaultSpeed());
  if (!speed.success) throw new UsageError(`--speed must be a number from 0.1 to 50\n\n${USAGE}`);
  const named = given.positionals.length === 0 ? [DEMO_SCENARIO] : given.positionals;
  return { scenarios: given.values.all ? ["all"] : named, speed: speed.data, help: given.values.help };
}

function defaultSpeed(): number {
  return process.stdout.isTTY ? 1 : SPEED_WITHOUT_TERMINAL;
}

/** A house that is still starting is stopped when it has started. */
async function stopHouse(): Promise<void> {
  const running = await house?.catch(() => undefined);
  house = undefined;
  await running?.stop();
}

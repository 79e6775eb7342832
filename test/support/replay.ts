/**
 * Replays scenarios against the real agent and the real twins, which start once per test file; each call has a sandbox
 * and an agent of its own:
 *
 *     const call = await replay("open-incident");
 *     expect(call.failures).toEqual([]);
 *     expect(call.toolCalls[1]).toMatchObject({ name: "open_incident", result: { status: "open" } });
 *
 * `replay` takes the name of a file in `samples/scenarios`, or a scenario written in the test.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { textsOf } from "@offhook/caller/observed";
import { type RunOptions, runScenario, type ScenarioRun } from "@offhook/caller/run-scenario";
import type { scenarioSchema } from "@offhook/caller/scenario";
import { listScenarioFiles, readScenario, type Scenario } from "@offhook/caller/scenario-file";
import { afterAll, beforeAll } from "vitest";
import { stringify } from "yaml";
import type { z } from "zod";
import { SAMPLES_FOLDER, SCENARIOS_FOLDER } from "../../scripts/shared/folders.ts";
import { type House, type Stage, startHouse } from "../../scripts/shared/house.ts";

export interface ReplayedCall extends ScenarioRun {
  /** What the runtime understood of the caller. */
  heard: string[];
  /** What the assistant said. */
  said: string[];
}

export type ReplayOptions = Partial<Omit<RunOptions, "sandbox">>;
/** A scenario as its file would hold it. */
export type InlineScenario = z.input<typeof scenarioSchema>;

/** Times faster than real time; the audio is the same. */
const SPEED = 10;

/** The twins of this test file, with an agent on the sandbox that is always there. */
export interface SharedStage extends Stage {
  house: House;
}

let starting: Promise<House> | undefined;
let sharing: Promise<SharedStage> | undefined;
const samples = readSampleLibrary(SAMPLES_FOLDER);

beforeAll(async () => {
  await house();
});

afterAll(async () => {
  const started = await starting?.catch(() => undefined);
  starting = undefined;
  sharing = undefined;
  await started?.stop();
});

/** The twins of this test file. */
export function house(): Promise<House> {
  starting ??= startHouse();
  return starting;
}

/** For a test that calls one agent several times, or none of ours. */
export function stage(): Promise<SharedStage> {
  sharing ??= house().then(async (running) => ({ ...(await running.openFirstStage()), house: running }));
  return sharing;
}

/** The names of all scenarios there are. */
export function scenarioNames(): string[] {
  return [...listScenarioFiles(SCENARIOS_FOLDER).keys()];
}

/**
 * Plays a scenario once. What its `expect` asks for and is not so stands in `failures`.
 * @param options with `url`, that agent is called, and the sandbox that is always there is watched
 */
export async function replay(
  scenario: string | InlineScenario,
  options: ReplayOptions = {},
): Promise<ReplayedCall> {
  const { sandbox, voiceUrl, close } = await (options.url === undefined ? ownStage() : sharedStage());
  try {
    const run = await runScenario(typeof scenario === "string" ? named(scenario) : inline(scenario), {
      url: voiceUrl,
      sandbox,
      speed: SPEED,
      ...options,
    });
    return { ...run, heard: textsOf(run, "user"), said: textsOf(run, "assistant") };
  } finally {
    await close();
  }
}

async function ownStage(): Promise<Stage> {
  return (await house()).openStage();
}

/** The next call needs it again. */
async function sharedStage(): Promise<Stage> {
  return { ...(await stage()), close: async () => undefined };
}

function named(name: string): Scenario {
  return readScenario(join(SCENARIOS_FOLDER, `${name}.yaml`), samples);
}

/** Takes the way through a file, so that it is checked like any other. */
function inline(content: InlineScenario): Scenario {
  const folder = mkdtempSync(join(tmpdir(), "offhook-scenario-"));
  try {
    const file = join(folder, `${content.name}.yaml`);
    writeFileSync(file, stringify(content));
    return readScenario(file, samples);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

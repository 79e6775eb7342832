/** `npm run picture`: places a call and takes the picture of it in the console that the READMEs show. */
import { stat } from "node:fs/promises";
import path from "node:path";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { runScenario } from "@offhook/caller/run-scenario";
import { findScenarioFiles, readScenario, ScenarioError } from "@offhook/caller/scenario-file";
import { launchChromium } from "@offhook/console/testing/chromium";
import { readArguments, UsageError } from "@offhook/platform/server/command-line";
import { PROJECT, SAMPLES_FOLDER, SCENARIOS_FOLDER } from "./shared/folders.ts";
import { type Stage, startHouse } from "./shared/house.ts";

const PICTURE = path.join(PROJECT, "twins/console/picture.png");
const WINDOW = { width: 1400, height: 900 };
/** Everybody who opens the README loads it. */
const MAX_BYTES = 150_000;
const SCENARIO = "open-incident";
const USAGE = `npm run picture -- [scenario]

  scenario   of the call that is shown (default: ${SCENARIO})

Places the call in real time, and writes ${path.relative(PROJECT, PICTURE)}. Takes a Chromium, as the console's tests.`;

try {
  await main();
} catch (error) {
  const isExpected = error instanceof UsageError || error instanceof ScenarioError;
  console.error(isExpected ? error.message : error);
  process.exitCode = 2;
}

async function main(): Promise<void> {
  const given = readArguments(USAGE, {});
  if (given === undefined) {
    console.log(USAGE);
    return;
  }
  const [name = SCENARIO] = given.positionals;
  const house = await startHouse();
  try {
    const { size } = await stat(await takePicture(await house.openFirstStage(), name));
    console.log(`${path.relative(process.cwd(), PICTURE)}  ${Math.ceil(size / 1000)} KB`);
    if (size > MAX_BYTES) throw new Error(`the picture has more than ${MAX_BYTES / 1000} KB`);
  } finally {
    await house.stop();
  }
}

/** @returns the picture's file */
async function takePicture({ voiceUrl, sandbox }: Stage, name: string): Promise<string> {
  const [file = name] = findScenarioFiles([name], SCENARIOS_FOLDER);
  const scenario = readScenario(file, readSampleLibrary(SAMPLES_FOLDER));
  const run = await runScenario(scenario, { url: voiceUrl, sandbox, speed: 1 });
  const address = await sandbox.consoleAddress("/calls");
  if (!run.passed || address === undefined) throw new Error(run.failures.join("\n") || "there is no console");
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: WINDOW });
    await page.goto(address);
    await page.getByRole("row").getByRole("link").first().click();
    await page.getByRole("slider").first().waitFor();
    await page.waitForLoadState("networkidle");
    await page.screenshot({ path: PICTURE });
    return PICTURE;
  } finally {
    await browser.close();
  }
}

import { join } from "node:path";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { listScenarioFiles, readScenario } from "@offhook/caller/scenario-file";
import { expect, test } from "vitest";
import { SAMPLES_FOLDER, SCENARIOS_FOLDER } from "../../scripts/shared/folders.ts";

const samples = readSampleLibrary(SAMPLES_FOLDER);

test.each([...listScenarioFiles(SCENARIOS_FOLDER).keys()])("%s is a scenario", (name) => {
  expect(readScenario(join(SCENARIOS_FOLDER, `${name}.yaml`), samples).name).toBe(name);
});

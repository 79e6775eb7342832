/** The program of one process of callers. */

import { readSampleLibrary } from "@offhook/audio/sample-library";
import { readScenario } from "@offhook/caller/scenario-file";
import { answerQuestions } from "@offhook/platform/testing/bench/child";
import { SAMPLES_FOLDER } from "../shared/folders.ts";
import { Callers } from "./callers.ts";
import type { CallerQuestions } from "./questions.ts";

const NORMAL_CLOSURE = 1000;

let callers: Callers | undefined;

/** A terminal sends Ctrl-C to the whole group; the calls end when the program that placed them says so. */
process.on("SIGINT", () => undefined);

answerQuestions<CallerQuestions>({
  prepare: async ({ scenarioFile, ...options }) => {
    const { plan, expect } = readScenario(scenarioFile, readSampleLibrary(SAMPLES_FOLDER));
    callers = new Callers({ ...options, plan, closeCode: expect.close_code ?? NORMAL_CLOSURE });
    return null;
  },
  setLevel: async (level) => {
    prepared().setLevel(level);
    return null;
  },
  take: async () => prepared().take(),
  finish: async () => {
    await prepared().finish();
    return null;
  },
});

function prepared(): Callers {
  if (callers === undefined) throw new Error("the callers were not prepared");
  return callers;
}

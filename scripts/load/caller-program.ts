/** The program of one process of callers. */

import { readSampleLibrary } from "@offhook/audio/sample-library";
import { readScenario } from "@offhook/caller/scenario-file";
import type { Telemetry } from "@offhook/platform/telemetry/telemetry";
import { answerQuestions } from "@offhook/platform/testing/bench/child";
import { SAMPLES_FOLDER } from "../shared/folders.ts";
import { startCallerTelemetry } from "../shared/telemetry.ts";
import { Callers } from "./callers.ts";
import type { CallerQuestions } from "./questions.ts";

const NORMAL_CLOSURE = 1000;

let callers: Callers | undefined;
let telemetry: Telemetry | undefined;

/** A terminal sends Ctrl-C to the whole group; the calls end when the program that placed them says so. */
process.on("SIGINT", () => undefined);

answerQuestions<CallerQuestions>({
  prepare: async ({ scenarioFile, ...options }) => {
    const { name, plan, expect } = readScenario(scenarioFile, readSampleLibrary(SAMPLES_FOLDER));
    telemetry = await startCallerTelemetry();
    const closeCode = expect.close_code ?? NORMAL_CLOSURE;
    callers = new Callers({ ...options, plan, closeCode, traced: { scenario: name, telemetry } });
    return null;
  },
  setLevel: async (level) => {
    prepared().setLevel(level);
    return null;
  },
  take: async () => prepared().take(),
  finish: async () => {
    await prepared().finish();
    await telemetry?.stop();
    return null;
  },
});

function prepared(): Callers {
  if (callers === undefined) throw new Error("the callers were not prepared");
  return callers;
}

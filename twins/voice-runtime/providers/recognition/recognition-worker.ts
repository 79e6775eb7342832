/** Thread that listens. */
import { z } from "zod";
import { CALLER_RATE } from "../../../audio/pcm.ts";
import { resample } from "../../../audio/resample.ts";
import { readSampleLibrary } from "../../../audio/sample-library.ts";
import { INTERNAL_RATE } from "../provider.ts";
import { poolData, serveTasks } from "../threads/serve-tasks.ts";
import { Recogniser } from "./recogniser.ts";

export interface RecognitionRequest {
  task: "transcribe" | "partial";
  speech: Int16Array;
}

const { samplesFolder } = z.object({ samplesFolder: z.string() }).parse(poolData());
const speechSamples = readSampleLibrary(samplesFolder)
  .all()
  .filter(({ kind }) => kind === "speech");
const recogniser = new Recogniser(
  speechSamples.map(({ text, pcm }) => ({ text, audio: resample(pcm, CALLER_RATE, INTERNAL_RATE) })),
);

serveTasks(({ task, speech }: RecognitionRequest) => recogniser[task](speech));

/** Worker thread that recognises speech. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { CALLER_RATE } from "@offhook/audio/pcm";
import { resample } from "@offhook/audio/resample";
import { MANIFEST_FILE, readSampleLibrary } from "@offhook/audio/sample-library";
import { z } from "zod";
import { INTERNAL_RATE } from "../provider.ts";
import { poolData, serveTasks } from "../threads/serve-tasks.ts";
import { Recogniser } from "./recogniser.ts";

export interface RecognitionRequest {
  task: "transcribe" | "partial";
  speech: Int16Array;
}

const { samplesFolder } = z.object({ samplesFolder: z.string() }).parse(poolData());
let manifest = manifestAttributes();
let recogniser = readRecogniser();

serveTasks(({ task, speech }: RecognitionRequest) => {
  refresh();
  return recogniser[task](speech);
});

/** Reloads added or changed recordings, without a restart. */
function refresh(): void {
  const attributes = manifestAttributes();
  if (attributes === manifest) return;
  try {
    recogniser = readRecogniser();
    manifest = attributes;
  } catch {
    // Being written, or invalid (every dial reports that): the earlier recordings stay in use.
  }
}

/** The manifest holds a checksum of each recording, so it changes with any of them. */
function manifestAttributes(): string {
  const stats = statSync(join(samplesFolder, MANIFEST_FILE), { throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
}

function readRecogniser(): Recogniser {
  const speech = readSampleLibrary(samplesFolder)
    .all()
    .filter(({ kind }) => kind === "speech");
  return new Recogniser(
    speech.map(({ text, pcm }) => ({ text, audio: resample(pcm, CALLER_RATE, INTERNAL_RATE) })),
  );
}

/**
 * Embedded speech recognition: compares what it hears with a folder of labelled recordings. It really listens: audio at
 * the wrong rate or with swapped or shifted bytes, noise, music, half an utterance, or a sentence that was never recorded
 * is not recognised.
 */
import { resolve } from "node:path";
import { readManifest } from "@offhook/audio/sample-library";
import type { Recognition } from "./provider.ts";
import type { RecognitionRequest } from "./recognition/recognition-worker.ts";
import { Shared } from "./threads/shared.ts";
import { WorkerPool } from "./threads/worker-pool.ts";

export interface SampleRecognitionOptions {
  /** Folder with the samples and their `manifest.json`; those with speech can be recognised. */
  samplesFolder: string;
  /** Worker threads. */
  threads?: number;
}

export interface SampleRecognition extends Recognition {
  /** Starts the threads before the first turn. */
  warm(): void;
  close(): Promise<void>;
}

type Listeners = WorkerPool<RecognitionRequest, string | null>;

/** Recognisers with the same options share threads within a process; the last one closes them. */
const listeners = new Shared<Listeners>();

/**
 * Ignores the requested language. Reads the folder when the threads start, and again when its manifest changes.
 * @throws Error for a folder without a usable manifest or without speech
 */
export function createSampleRecognition({
  samplesFolder,
  threads = 1,
}: SampleRecognitionOptions): SampleRecognition {
  const spoken = readManifest(samplesFolder).samples.filter(({ kind }) => kind === "speech");
  if (spoken.length === 0) {
    throw new Error(`${samplesFolder} has no sample with speech in it: nothing could be recognised`);
  }
  const lease = listeners.lease(`${threads} ${resolve(samplesFolder)}`, () =>
    startListeners(samplesFolder, threads),
  );
  // A copy, because posting a view would copy the whole recording behind it.
  const run = async (task: RecognitionRequest["task"], speech: Int16Array, signal: AbortSignal) => ({
    text: await lease.value.run({ task, speech: speech.slice() }, signal),
  });
  return {
    hint: `only the recordings in ${samplesFolder} are recognised: add what is said with "npm run samples -- add", or give the service a speech-to-text server (recognition in the environment file)`,
    transcribe: (speech, _language, signal) => run("transcribe", speech, signal),
    partial: (speech, _language, signal) => run("partial", speech, signal),
    warm: () => lease.value.warm(),
    close: () => lease.release(),
  };
}

/** Recognition of a runtime that was given no recordings. */
export const withoutSamples: Recognition & { close(): Promise<void> } = {
  hint: "no recordings are known, so nothing is recognised: name a folder of samples, or a speech-to-text server (recognition in the environment file)",
  transcribe: async () => ({ text: null }),
  partial: async () => ({ text: null }),
  close: async () => undefined,
};

function startListeners(samplesFolder: string, threads: number): Listeners {
  const file = new URL("./recognition/recognition-worker.ts", import.meta.url);
  return new WorkerPool({ file, threads, maxWaiting: 1_000, data: { samplesFolder } });
}

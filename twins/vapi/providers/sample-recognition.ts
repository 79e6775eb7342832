/**
 * Speech recognition without a vendor: what is heard is compared with a folder of recordings whose words are known.
 * It really listens: audio at the wrong rate, with its bytes swapped or shifted, noise, music, half an utterance, or a
 * sentence that was never recorded is not understood.
 */
import { resolve } from "node:path";
import { readManifest } from "@offhook/audio/sample-library";
import type { Recognition } from "./provider.ts";
import type { RecognitionRequest } from "./recognition/recognition-worker.ts";
import { Shared } from "./threads/shared.ts";
import { WorkerPool } from "./threads/worker-pool.ts";

export interface SampleRecognitionOptions {
  /** Folder with the samples and their `manifest.json`: those with speech are what can be understood. */
  samplesFolder: string;
  /** Threads that listen. */
  threads?: number;
}

export interface SampleRecognition extends Recognition {
  /** Starts the threads ahead of the first turn. */
  warm(): void;
  close(): Promise<void>;
}

type Listeners = WorkerPool<RecognitionRequest, string | null>;

/** All recognisers of a process for the same folder share their threads. */
const listeners = new Shared<Listeners>();

/**
 * The language asked for makes no difference: recordings are in whatever language they are. The folder is read when the
 * threads start, and again when its manifest has changed.
 * @throws Error saying what is wrong when the folder has no usable manifest or no speech in it.
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
  // A view of a larger recording would take all of it along to the thread.
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

function startListeners(samplesFolder: string, threads: number): Listeners {
  const file = new URL("./recognition/recognition-worker.ts", import.meta.url);
  return new WorkerPool({ file, threads, mostWaiting: 1_000, data: { samplesFolder } });
}

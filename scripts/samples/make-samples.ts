/** Makes the samples and their manifest from `utterances.yaml`. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bytesToSamples, CALLER_RATE, concatSamples, silence } from "@offhook/audio/pcm";
import { resample } from "@offhook/audio/resample";
import {
  type Manifest,
  type ManifestEntry,
  sampleFile,
  writeManifest,
  writeSample,
} from "@offhook/audio/sample-library";
import { normaliseRecording, trimEdges } from "@offhook/audio/sample-shape";
import { chords, whiteNoise } from "@offhook/audio/testing/sounds";
import { INTERNAL_RATE, type Synthesis } from "@offhook/vapi/providers/provider";
import {
  parseUtterances,
  plainText,
  type Sound,
  type SpokenText,
  UTTERANCES_FILE,
  type Utterance,
  type Utterances,
} from "@offhook/vapi/samples/utterances";

export interface MakeSamplesOptions {
  /** Folder with `utterances.yaml` and the recordings. */
  from: string;
  /** Folder for the samples and the manifest. */
  to: string;
  synthesis: Synthesis;
  /** Called after each sample. */
  onSample?: (entry: ManifestEntry, done: number, total: number) => void;
}

export async function makeSamples({ from, to, synthesis, onSample }: MakeSamplesOptions): Promise<Manifest> {
  const { utterances, sounds } = readUtterances(from);
  mkdirSync(to, { recursive: true });
  const samples: ManifestEntry[] = [];
  const total = utterances.length + sounds.length;
  const keep = (entry: Omit<ManifestEntry, "durationMs" | "sha256">, pcm: Int16Array): void => {
    const complete = writeSample(to, entry, pcm);
    samples.push(complete);
    onSample?.(complete, samples.length, total);
  };
  for (const utterance of utterances) {
    const { name, voice, text } = utterance;
    const pcm = "recorded" in utterance ? readRecording(from, name) : await speak(utterance, synthesis);
    keep({ name, kind: "speech", text: plainText(text), voice }, pcm);
  }
  for (const sound of sounds) {
    const of = sound.kind === "wrong-rate" ? utterances.find(({ name }) => name === sound.of) : undefined;
    const entry = {
      name: sound.name,
      kind: sound.kind,
      text: of ? plainText(of.text) : "",
      voice: of?.voice ?? "",
    };
    keep(entry, makeSound(sound, to));
  }
  return writeManifest(to, samples);
}

/** Reads and validates `utterances.yaml`. @throws Error saying what is wrong with it, and where */
function readUtterances(folder: string): Utterances {
  const file = join(folder, UTTERANCES_FILE);
  return parseUtterances(readFileSync(file, "utf8"), file);
}

async function speak({ text, voice }: Utterance, synthesis: Synthesis): Promise<Int16Array> {
  const parts: SpokenText = typeof text === "string" ? [text] : text;
  const pieces: Int16Array[] = [];
  for (const part of parts) {
    if (typeof part !== "string") pieces.push(silence(part.pause_ms, CALLER_RATE));
    else pieces.push(trimEdges(await speakPart(part, voice, synthesis)));
  }
  return normaliseRecording(concatSamples(...pieces));
}

async function speakPart(text: string, voice: string, synthesis: Synthesis): Promise<Int16Array> {
  const speech = await synthesis.speak(
    text,
    { provider: "flite", voiceId: voice },
    AbortSignal.timeout(60_000),
  );
  return resample(speech, INTERNAL_RATE, CALLER_RATE);
}

function makeSound(sound: Sound, folder: string): Int16Array {
  switch (sound.kind) {
    case "noise":
      return whiteNoise(sound.duration_ms, sound.level_db, sound.seed, CALLER_RATE);
    case "tones":
      return chords(sound.duration_ms, sound.level_db, CALLER_RATE);
    case "wrong-rate":
      return resample(
        bytesToSamples(readFileSync(sampleFile(folder, sound.of))),
        CALLER_RATE,
        sound.sample_rate,
      );
  }
}

function readRecording(folder: string, name: string): Int16Array {
  if (!existsSync(sampleFile(folder, name))) {
    throw new Error(
      `${sampleFile(folder, name)} is not there, and ${name} is a recording: add it again (npm run samples -- add ${name} … --replace), or take it out of ${UTTERANCES_FILE}`,
    );
  }
  return bytesToSamples(readFileSync(sampleFile(folder, name)));
}

/** Makes a sample of a recording: the one way in, for `npm run samples -- add` and for `POST /sim/samples`. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CALLER_RATE } from "@offhook/audio/pcm";
import { resample } from "@offhook/audio/resample";
import {
  MANIFEST_FILE,
  type ManifestEntry,
  readManifest,
  replaceFile,
  sampleNameSchema,
  writeManifest,
  writeSample,
} from "@offhook/audio/sample-library";
import { normaliseRecording } from "@offhook/audio/sample-shape";
import type { Recording } from "@offhook/audio/wav";
import { isMap, isSeq, parseDocument } from "yaml";
import { z } from "zod";
import { INTERNAL_RATE } from "../providers/provider.ts";
import { Recogniser } from "../providers/recognition/recogniser.ts";
import { parseUtterances, plainText, spokenSchema, UTTERANCES_FILE } from "./utterances.ts";

/** With its ending it must be a file's name. */
const MAX_NAME_LENGTH = 200;

export interface RecordedUtterance {
  name: string;
  text: string;
  voice: string;
}

/** Why a recording becomes no sample. `taken`: its name is another sample's; `unusable`: the name or the audio cannot be one's. */
export class RecordingRefusal extends Error {
  readonly code: "taken" | "unusable";

  constructor(code: RecordingRefusal["code"], message: string) {
    super(message);
    this.name = "RecordingRefusal";
    this.code = code;
  }
}

/**
 * Writes the sample's file, adds it to `utterances.yaml`, if the folder has one, keeping its comments, and to the
 * manifest, in this order: each file is replaced whole, and recognisers read the folder anew when the manifest changes.
 * @param mode `new` refuses a name that exists; `replace` replaces its sample
 * @throws RecordingRefusal, or Error saying what is wrong with the folder; nothing is written then
 */
export function addRecording(
  folder: string,
  utterance: RecordedUtterance,
  recording: Recording,
  mode: "new" | "replace",
): ManifestEntry {
  const { name, text, voice } = readUtterance(utterance);
  const present = existsSync(join(folder, MANIFEST_FILE)) ? readManifest(folder).samples : [];
  const source = readSource(join(folder, UTTERANCES_FILE));
  checkName(name, mode, [...present, ...(source?.samples ?? [])]);
  const pcm = toSample(recording, text);
  const utterances = source && withUtterance(source, { name, text, voice });
  const entry = writeSample(folder, { name, kind: "speech", text, voice }, pcm);
  if (source && utterances !== undefined) replaceFile(source.file, utterances);
  writeManifest(folder, withEntry(present, entry));
  return entry;
}

const utteranceSchema = z.object({
  name: sampleNameSchema.max(MAX_NAME_LENGTH),
  text: spokenSchema,
  voice: z.string().min(1),
});

/** @throws RecordingRefusal for a name or text that no sample can have */
function readUtterance(utterance: RecordedUtterance): RecordedUtterance {
  const reading = utteranceSchema.safeParse(utterance);
  if (reading.success) return reading.data;
  const [problem] = reading.error.issues;
  const member = String(problem?.path[0] ?? "");
  throw new RecordingRefusal(
    "unusable",
    `${JSON.stringify(Reflect.get(utterance, member))} cannot be a sample's ${member}: ${problem?.message}`,
  );
}

/** `utterances.yaml` of a folder, and the samples it makes. */
interface Source {
  file: string;
  text: string;
  samples: Pick<ManifestEntry, "name" | "kind" | "text">[];
}

function readSource(file: string): Source | undefined {
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, "utf8");
  const { utterances, sounds } = parseUtterances(text, file);
  const spoken = utterances.map((one) => ({
    name: one.name,
    kind: "speech" as const,
    text: plainText(one.text),
  }));
  return { file, text, samples: [...spoken, ...sounds.map(({ name, kind }) => ({ name, kind, text: "" }))] };
}

/** @throws RecordingRefusal when the name is not free */
function checkName(name: string, mode: "new" | "replace", samples: Source["samples"]): void {
  const held = samples.find((sample) => sample.name === name);
  if (held && held.kind !== "speech") {
    throw new RecordingRefusal("unusable", `${name} is a sound, not speech; take another name`);
  }
  if (held && mode === "new") {
    throw new RecordingRefusal("taken", `there is a sample ${name} already (${JSON.stringify(held.text)})`);
  }
}

/** The recording as samples are. @throws RecordingRefusal when no recogniser could use it */
function toSample(recording: Recording, text: string): Int16Array {
  try {
    const pcm = normaliseRecording(resample(recording.samples, recording.sampleRate, CALLER_RATE));
    // A recording without speech would keep the recogniser from reading the folder.
    new Recogniser([{ text, audio: resample(pcm, CALLER_RATE, INTERNAL_RATE) }]);
    return pcm;
  } catch (error) {
    throw new RecordingRefusal("unusable", error instanceof Error ? error.message : String(error));
  }
}

/** The text of `utterances.yaml` with the utterance added, or in place of the one of its name. */
function withUtterance({ file, text }: Source, utterance: RecordedUtterance): string {
  const document = parseDocument(text);
  const utterances = document.get("utterances");
  if (!isSeq(utterances)) throw new Error(`${file}: utterances must be a list`);
  const entry = document.createNode({ ...utterance, recorded: true }, { flow: true });
  const at = utterances.items.findIndex((item) => isMap(item) && item.get("name") === utterance.name);
  if (at < 0) utterances.add(entry);
  else utterances.set(at, entry);
  const changed = document.toString({ lineWidth: 0 });
  parseUtterances(changed, file);
  return changed;
}

/** The entries with this one in its place, speech before sounds, as making the samples orders them. */
function withEntry(entries: readonly ManifestEntry[], entry: ManifestEntry): ManifestEntry[] {
  const at = entries.findIndex(({ name }) => name === entry.name);
  if (at >= 0) return entries.with(at, entry);
  const afterSpeech = entries.findLastIndex(({ kind }) => kind === "speech") + 1;
  return entries.toSpliced(afterSpeech, 0, entry);
}

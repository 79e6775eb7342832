/** Makes a sample from a user's recording. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CALLER_RATE, samplesToBytes } from "@offhook/audio/pcm";
import { resample } from "@offhook/audio/resample";
import { sampleFile, sampleNameSchema } from "@offhook/audio/sample-library";
import { normaliseRecording } from "@offhook/audio/sample-shape";
import type { Recording } from "@offhook/audio/wav";
import { isMap, isSeq, parseDocument } from "yaml";
import { parseUtterances, plainText, UTTERANCES_FILE } from "./utterances.ts";

export interface RecordedUtterance {
  name: string;
  text: string;
  voice: string;
}

/**
 * Writes the sample's file and adds it to `utterances.yaml`, keeping its comments. Does not update the manifest: make the
 * samples afterwards.
 * @param mode `new` refuses a name that exists; `replace` replaces its sample
 * @throws Error saying what is wrong with the name or the recording; nothing is written then
 */
export function addRecording(
  folder: string,
  utterance: RecordedUtterance,
  recording: Recording,
  mode: "new" | "replace",
): void {
  const name = sampleNameSchema.safeParse(utterance.name);
  if (!name.success)
    throw new Error(`${utterance.name} cannot be a sample's name: ${name.error.issues[0]?.message}`);
  const file = join(folder, UTTERANCES_FILE);
  const source = readFileSync(file, "utf8");
  const present = parseUtterances(source, file);
  const held = present.utterances.find((one) => one.name === utterance.name);
  if (mode === "new" && held) {
    throw new Error(
      `there is a sample ${utterance.name} already (${JSON.stringify(plainText(held.text))}); take another name, or --replace it`,
    );
  }
  if (present.sounds.some((one) => one.name === utterance.name)) {
    throw new Error(`${utterance.name} is a sound in ${file}; take another name`);
  }
  const pcm = normaliseRecording(resample(recording.samples, recording.sampleRate, CALLER_RATE));
  const document = parseDocument(source);
  const utterances = document.get("utterances");
  if (!isSeq(utterances)) throw new Error(`${file}: utterances must be a list`);
  const entry = document.createNode({ ...utterance, recorded: true }, { flow: true });
  const at = utterances.items.findIndex((item) => isMap(item) && item.get("name") === utterance.name);
  if (at < 0) utterances.add(entry);
  else utterances.set(at, entry);
  const changed = document.toString({ lineWidth: 0 });
  parseUtterances(changed, file);
  writeFileSync(file, changed);
  writeFileSync(sampleFile(folder, utterance.name), samplesToBytes(pcm));
}

/** Makes a sample of somebody's own recording. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMap, isSeq, parseDocument } from "yaml";
import { CALLER_RATE, samplesToBytes } from "../../twins/audio/pcm.ts";
import { resample } from "../../twins/audio/resample.ts";
import { sampleFile, sampleNameSchema } from "../../twins/audio/sample-library.ts";
import type { Recording } from "../../twins/audio/wav.ts";
import { asSample } from "./make-samples.ts";
import { parseUtterances, UTTERANCES_FILE } from "./utterances.ts";

export interface RecordedUtterance {
  name: string;
  text: string;
  voice: string;
}

/**
 * Writes the sample's file and enters it in `utterances.yaml` (comments stay), in place of one of the same name. The
 * manifest is not touched: make the samples after it.
 */
export function addRecording(folder: string, utterance: RecordedUtterance, recording: Recording): void {
  const name = sampleNameSchema.safeParse(utterance.name);
  if (!name.success)
    throw new Error(`${utterance.name} cannot be a sample's name: ${name.error.issues[0]?.message}`);
  const pcm = asSample(resample(recording.samples, recording.sampleRate, CALLER_RATE));
  const file = join(folder, UTTERANCES_FILE);
  const document = parseDocument(readFileSync(file, "utf8"));
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

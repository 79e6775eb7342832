/** The callers' samples: making, checking, adding and listening to them. `USAGE` says how. */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CALLER_RATE } from "../twins/audio/pcm.ts";
import { readSampleLibrary } from "../twins/audio/sample-library.ts";
import { readWav, writeWav } from "../twins/audio/wav.ts";
import { createFliteSynthesis } from "../twins/voice-runtime/providers/flite-synthesis.ts";
import type { Synthesis } from "../twins/voice-runtime/providers/provider.ts";
import { addRecording } from "./samples/add-recording.ts";
import { checkSamples } from "./samples/check-samples.ts";
import { DATASET_FILE, isDatasetAsMade, makeDataset } from "./samples/dataset.ts";
import { type MakeSamplesOptions, makeSamples } from "./samples/make-samples.ts";

const USAGE = `npm run samples                                  make all samples from samples/utterances.yaml
npm run samples -- --check                       are the samples what utterances.yaml says? writes nothing
npm run samples -- add NAME --text "What is said." --wav FILE [--voice WHO]
                                                 make a sample of a recording of your own
npm run samples -- export NAME --wav FILE        write a sample as a WAV file, to listen to it
--folder DIR                                     another folder than samples/`;

const SAMPLES_FOLDER = fileURLToPath(new URL("../samples", import.meta.url));

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: "boolean", default: false },
    folder: { type: "string", default: SAMPLES_FOLDER },
    text: { type: "string" },
    wav: { type: "string" },
    voice: { type: "string", default: "recorded" },
    help: { type: "boolean", short: "h", default: false },
  },
});

const synthesis = createFliteSynthesis();
try {
  process.exitCode = await run(synthesis);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await synthesis.close();
}

/** Answers the exit status. */
async function run(synthesis: Synthesis): Promise<number> {
  const [command, name] = positionals;
  if (values.help) return say(USAGE, 0);
  if (command === undefined) return values.check ? check(synthesis) : make(synthesis);
  if (name === undefined || values.wav === undefined) return say(USAGE, 2);
  if (command === "export") {
    writeFileSync(
      values.wav,
      writeWav({ samples: readSampleLibrary(values.folder).get(name).pcm, sampleRate: CALLER_RATE }),
    );
    return say(`wrote ${values.wav}`, 0);
  }
  if (command !== "add" || values.text === undefined) return say(USAGE, 2);
  const recording = readWav(readFileSync(values.wav));
  addRecording(values.folder, { name, text: values.text, voice: values.voice }, recording);
  return make(synthesis);
}

async function make(synthesis: Synthesis): Promise<number> {
  const { samples } = await makeSamples({ from: values.folder, to: values.folder, synthesis, onSample });
  if (isShippedFolder()) say(`${makeDataset(values.folder)} log events in ${DATASET_FILE}`, 0);
  return say(`${samples.length} samples in ${values.folder}`, 0);
}

async function check(synthesis: Synthesis): Promise<number> {
  const differences = await checkSamples(values.folder, synthesis, onSample);
  if (isShippedFolder() && !isDatasetAsMade(values.folder)) {
    differences.push(`${DATASET_FILE} is not what scripts/samples/log-events.ts makes`);
  }
  if (differences.length === 0) return say("every sample is what utterances.yaml says", 0);
  return say(`${differences.join("\n")}\nrun npm run samples to make them anew`, 1);
}

/** A folder of somebody's own has utterances, and no logs of ours. */
function isShippedFolder(): boolean {
  return resolve(values.folder) === resolve(SAMPLES_FOLDER);
}

function onSample(...[entry, done, total]: Parameters<NonNullable<MakeSamplesOptions["onSample"]>>): void {
  const count = `${String(done).padStart(String(total).length)}/${total}`;
  console.log(`${count}  ${entry.name.padEnd(22)} ${(entry.durationMs / 1000).toFixed(1)} s  ${entry.text}`);
}

function say(text: string, exitCode: number): number {
  (exitCode === 0 ? console.log : console.error)(text);
  return exitCode;
}

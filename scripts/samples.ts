/** `npm run samples`: makes, checks, adds and exports the callers' samples. See `USAGE`. */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CALLER_RATE } from "@offhook/audio/pcm";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { type Recording, readWav, writeWav } from "@offhook/audio/wav";
import { readArguments, UsageError } from "@offhook/platform/server/command-line";
import { onReaderGone } from "@offhook/platform/server/end-with-caller";
import { createFliteSynthesis } from "@offhook/vapi/providers/flite-synthesis";
import { addRecording, RecordingRefusal } from "@offhook/vapi/samples/add-recording";
import { checkSamples } from "./samples/check-samples.ts";
import { readDatasets } from "./samples/datasets.ts";
import { type MakeSamplesOptions, makeSamples } from "./samples/make-samples.ts";

const USAGE = `npm run samples                                  make all samples from samples/utterances.yaml
npm run samples -- --check                       compare the samples with utterances.yaml; writes nothing
npm run samples -- add NAME --text "What is said." --wav FILE [--voice WHO] [--replace]
                                                 make a sample from your own recording
npm run samples -- export NAME --wav FILE        write a sample as a WAV file, to listen to it

  --folder DIR   folder of the samples; default: samples/
  --replace      replace a sample of that name
  --help`;

const SAMPLES_FOLDER = fileURLToPath(new URL("../samples", import.meta.url));

const options = {
  check: { type: "boolean", default: false },
  folder: { type: "string", default: SAMPLES_FOLDER },
  text: { type: "string" },
  wav: { type: "string" },
  voice: { type: "string", default: "recorded" },
  replace: { type: "boolean", default: false },
} as const;

type Given = NonNullable<ReturnType<typeof readArguments<typeof options>>>;

onReaderGone(() => process.exit());
const synthesis = createFliteSynthesis();
try {
  const given = readArguments(USAGE, options);
  process.exitCode = given === undefined ? say(USAGE, 0) : await run(given);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = error instanceof UsageError ? 2 : 1;
} finally {
  await synthesis.close();
}

/** @returns the exit status */
async function run({ values, positionals: [command, name, ...more] }: Given): Promise<number> {
  const { folder, text, wav, voice, replace } = values;
  if (command === undefined) return values.check ? check(folder) : make(folder);
  if (command !== "add" && command !== "export") {
    throw new UsageError(`there is no ${command}; there are add and export\n\n${USAGE}`);
  }
  if (name === undefined) throw new UsageError(`${command} needs the sample's name\n\n${USAGE}`);
  if (more.length > 0) throw new UsageError(`${command} takes one name; quote what has spaces\n\n${USAGE}`);
  if (wav === undefined) throw new UsageError(`${command} needs --wav FILE\n\n${USAGE}`);
  if (command === "export") {
    const { pcm } = readSampleLibrary(folder).get(name);
    writeFileSync(wav, writeWav({ samples: pcm, sampleRate: CALLER_RATE }));
    return say(`wrote ${wav}`, 0);
  }
  if (text === undefined) throw new UsageError(`add needs --text, what is said in the recording\n\n${USAGE}`);
  add(folder, { name, text, voice }, readRecording(wav), replace ? "replace" : "new");
  return make(folder);
}

/** @throws Error saying what is wrong, and what to do */
function add(...given: Parameters<typeof addRecording>): void {
  try {
    addRecording(...given);
  } catch (error) {
    if (!(error instanceof RecordingRefusal) || error.code !== "taken") throw error;
    throw new Error(`${error.message}; take another name, or --replace it`, { cause: error });
  }
}

/** @throws Error naming the file and what to do */
function readRecording(file: string): Recording {
  const bytes = readBytes(file);
  try {
    return readWav(bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `${file} is no WAV file that can be read (${reason}); record one, or convert it: ffmpeg -i ${file} recording.wav`,
      { cause: error },
    );
  }
}

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") throw new Error(`there is no file ${file}`, { cause: error });
    if (code === "EISDIR") throw new Error(`${file} is a folder; name a WAV file`, { cause: error });
    throw error;
  }
}

async function make(folder: string): Promise<number> {
  const { samples } = await makeSamples({ from: folder, to: folder, synthesis, onSample });
  for (const dataset of await shippedDatasets(folder))
    say(`${dataset.make()} log events in ${dataset.file}`, 0);
  return say(`${samples.length} samples in ${folder}`, 0);
}

async function check(folder: string): Promise<number> {
  const differences = await checkSamples(folder, synthesis, onSample);
  for (const { file, maker, isAsMade } of await shippedDatasets(folder)) {
    if (!isAsMade()) differences.push({ what: `${file} is not what ${maker} makes`, remedy: "make" });
  }
  if (differences.length === 0) return say("every sample is what utterances.yaml says", 0);
  const lines = differences.map(({ what }) => what);
  const options = isShippedFolder(folder) ? "" : ` -- --folder ${folder}`;
  if (differences.some(({ remedy }) => remedy === "make")) {
    lines.push(`run npm run samples${options} to make them anew: recordings stay as their files are`);
  }
  if (differences.some(({ remedy }) => remedy === "remove")) {
    lines.push("remove files that are no sample's: making the samples anew leaves them");
  }
  return say(lines.join("\n"), 1);
}

async function shippedDatasets(folder: string) {
  return isShippedFolder(folder) ? readDatasets(folder) : [];
}

/** Only the shipped folder has log datasets; a user's own has utterances only. */
function isShippedFolder(folder: string): boolean {
  return resolve(folder) === resolve(SAMPLES_FOLDER);
}

function onSample(...[entry, done, total]: Parameters<NonNullable<MakeSamplesOptions["onSample"]>>): void {
  const count = `${String(done).padStart(String(total).length)}/${total}`;
  console.log(`${count}  ${entry.name.padEnd(22)} ${(entry.durationMs / 1000).toFixed(1)} s  ${entry.text}`);
}

function say(text: string, exitCode: number): number {
  (exitCode === 0 ? console.log : console.error)(text);
  return exitCode;
}

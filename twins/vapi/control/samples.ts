/** `/sim/samples`: the recordings that the embedded recogniser knows, to hear them and to add to them. */
import { CALLER_RATE } from "@offhook/audio/pcm";
import { type ManifestEntry, readManifest, readSampleLibrary } from "@offhook/audio/sample-library";
import { type Recording, readWav, writeWav } from "@offhook/audio/wav";
import { errorResponse, readQueryAs } from "@offhook/platform/http/errors";
import { type Operation, operation, type VendorResponse } from "@offhook/platform/http/operation";
import { z } from "zod";
import { addRecording, RecordingRefusal } from "../samples/add-recording.ts";
import type { VoiceRuntimeTwin } from "../twin.ts";

/** Bounds the time in which a recording is read, resampled and checked: half a minute of stereo at 48 kHz. */
const MAX_WAV_BYTES = 6 * 1024 * 1024;
const MAX_RECORDING_SECONDS = 30;

const addQuery = z.strictObject({
  name: z.string(),
  text: z.string(),
  voice: z.string().default("recorded"),
});

export const sampleOperations: Operation<VoiceRuntimeTwin>[] = [
  operation<VoiceRuntimeTwin>({
    id: "samples.read",
    method: "GET",
    path: "/sim/samples",
    surface: "rest",
    summary:
      "The samples in the service's folder, with what is said in each; locked says why none can be added, if so.",
    handle: (_request, { samples: { path, locked } }) => ({
      status: 200,
      body: {
        samples: path === undefined ? [] : readManifest(path).samples.map(showSample),
        locked: locked ?? null,
      },
    }),
  }),
  operation<VoiceRuntimeTwin>({
    id: "samples.get",
    method: "GET",
    path: "/sim/samples/:name",
    surface: "rest",
    summary: "One sample as WAV, 24 kHz mono.",
    secretBody: true,
    handle({ params: { name = "" } }, { samples: { path } }) {
      const sample =
        path &&
        readSampleLibrary(path)
          .all()
          .find((one) => one.name === name);
      if (!sample) return errorResponse(404, "not_found", `there is no sample ${name}`);
      const wav = writeWav({ samples: sample.pcm, sampleRate: CALLER_RATE });
      return { status: 200, headers: { "content-type": "audio/wav" }, body: Buffer.from(wav) };
    },
  }),
  operation<VoiceRuntimeTwin>({
    id: "samples.add",
    method: "POST",
    path: "/sim/samples",
    surface: "rest",
    summary:
      "Makes a sample of the WAV file in the body, in which text is said, and keeps it in the service's folder; it is recognised from the next turn on.",
    maxBodyBytes: MAX_WAV_BYTES,
    secretBody: true,
    handle(request, { samples }) {
      const query = readQueryAs(request, addQuery);
      if (!query.ok) return query.response;
      if (samples.locked !== undefined) return errorResponse(409, "conflict", samples.locked);
      const recording = readRecording(request.body);
      if ("status" in recording) return recording;
      try {
        const entry = addRecording(samples.path, query.value, recording, "new");
        return { status: 201, body: showSample(entry) };
      } catch (error) {
        if (!(error instanceof RecordingRefusal)) throw error;
        return error.code === "taken"
          ? errorResponse(409, "conflict", `${error.message}; take another name`)
          : errorResponse(422, "invalid", error.message);
      }
    },
  }),
];

function showSample({ name, kind, text, voice, durationMs }: ManifestEntry) {
  return { name, kind, text, voice, duration_ms: durationMs };
}

/** The recording in a body, or why there is none that can be used. */
function readRecording(body: Buffer): Recording | VendorResponse {
  let recording: Recording;
  try {
    recording = readWav(body);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return errorResponse(422, "invalid", `the body is no WAV file that can be read (${reason}); send one`);
  }
  const seconds = recording.samples.length / recording.sampleRate;
  if (seconds <= MAX_RECORDING_SECONDS) return recording;
  return errorResponse(
    422,
    "invalid",
    `the recording lasts ${seconds.toFixed(1)} s; a sample is one utterance, of at most ${MAX_RECORDING_SECONDS} s`,
  );
}

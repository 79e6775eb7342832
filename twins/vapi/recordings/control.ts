/** The recordings of calls in the control plane: the audio, and its waveform. */
import { wholeNumber } from "@offhook/platform/control/paging";
import { errorResponse, readQueryAs } from "@offhook/platform/http/errors";
import { type Operation, operation, type VendorResponse } from "@offhook/platform/http/operation";
import { z } from "zod";
import type { VoiceRuntimeTwin } from "../twin.ts";
import { PEAK_MS } from "./peaks.ts";
import type { StoredRecording } from "./recording-store.ts";
import { answerWav } from "./wav-answer.ts";

/** Maximum pairs of one answer and side: 20 minutes at the finest resolution. */
const MAX_PAIRS = 60_000;
const MAX_RESOLUTION_MS = 60_000;

const peaksQuery = z.strictObject({
  from_ms: wholeNumber.default(0),
  resolution_ms: wholeNumber
    .refine(
      (value) => value >= PEAK_MS && value <= MAX_RESOLUTION_MS && value % PEAK_MS === 0,
      `must be a multiple of ${PEAK_MS}, ${PEAK_MS} to ${MAX_RESOLUTION_MS}`,
    )
    .default(PEAK_MS),
});

export const recordingOperations: Operation<VoiceRuntimeTwin>[] = [
  operation<VoiceRuntimeTwin>({
    id: "recording.get",
    method: "GET",
    path: "/sim/recordings/:callId",
    surface: "rest",
    summary:
      "The recording of a call as WAV, caller left and assistant right; of a running call what there is so far. Takes Range.",
    secretBody: true,
    handle(request, twin) {
      const stored = twin.recordings.find(request.params.callId ?? "");
      return stored ? answerWav(request, stored, "stereo") : noRecording(request.params.callId ?? "", twin);
    },
  }),
  operation<VoiceRuntimeTwin>({
    id: "recording.peaks",
    method: "GET",
    path: "/sim/recordings/:callId/peaks",
    surface: "rest",
    summary:
      "The waveform of a recording: the lowest and the highest sample of each side in every resolution_ms, from from_ms on, as signed bytes in base64.",
    handle(request, twin) {
      const query = readQueryAs(request, peaksQuery);
      if (!query.ok) return query.response;
      const stored = twin.recordings.find(request.params.callId ?? "");
      if (!stored) return noRecording(request.params.callId ?? "", twin);
      return { status: 200, body: showPeaks(stored, query.value) };
    },
  }),
];

function showPeaks({ recording }: StoredRecording, query: z.output<typeof peaksQuery>) {
  const { peaks, state, durationMs } = recording;
  const group = query.resolution_ms / PEAK_MS;
  const from = group * Math.floor(query.from_ms / query.resolution_ms);
  const left = Math.max(0, peaks.windows - from) / group;
  // A group that is not full would change when more comes.
  const ready = state === "running" ? Math.floor(left) : Math.ceil(left);
  const count = Math.min(ready, MAX_PAIRS);
  const { caller, assistant } = peaks.read(from, count, group);
  return {
    from_ms: from * PEAK_MS,
    resolution_ms: query.resolution_ms,
    duration_ms: durationMs,
    lanes: { caller: base64(caller), assistant: base64(assistant) },
    state,
    complete: state !== "running" && count === ready,
  };
}

function base64(peaks: Int8Array): string {
  return Buffer.from(peaks.buffer).toString("base64");
}

function noRecording(callId: string, { store }: VoiceRuntimeTwin): VendorResponse {
  const why = store.get(callId)
    ? "this call has no recording: it has not begun, its assistant's artifactPlan turns recording off, or newer calls took its place (recordings in the service's config)"
    : "there is no such call";
  return errorResponse(404, "not_found", why);
}

/**
 * The recordings of ended calls: a redirect for whoever has a key, and the files for whoever has their address.
 * Source: https://docs.vapi.ai/api-reference/calls (mono, stereo, customer and assistant recording).
 */
import type { Operation } from "@offhook/platform/http/operation";
import { parseFileName, recordingPath } from "../recordings/addresses.ts";
import { answerWav, CHANNELS } from "../recordings/wav-answer.ts";
import type { VoiceRuntimeTwin } from "../twin.ts";
import { failure } from "./errors.ts";
import { authenticatedOperation, openOperation } from "./handle.ts";

const NOT_FOUND = "Artifact not found.";

/** `GET /call/{id}/{mono,stereo,customer,assistant}-recording`. */
export const redirectsToRecordings: Operation<VoiceRuntimeTwin>[] = CHANNELS.map((channel) =>
  authenticatedOperation({
    id: `recording.${channel}`,
    method: "GET",
    path: `/call/:id/${channel}-recording`,
    surface: "rest",
    summary: `Redirects to the ${channel} recording of a call that has ended.`,
    handle(request, twin) {
      const stored = twin.store.recordingOf(request.params.id ?? "");
      if (!stored) throw failure(404, NOT_FOUND);
      return { status: 302, headers: { location: `${twin.store.url}${recordingPath(stored, channel)}` } };
    },
  }),
);

export const downloadRecording = openOperation({
  id: "recording.download",
  method: "GET",
  path: "/recordings/:file",
  surface: "rest",
  summary: "A recording as WAV, for whoever has its address. Takes Range.",
  secretBody: true,
  handle(request, twin) {
    const named = parseFileName(request.params.file ?? "");
    const stored = named && twin.recordings.findBySecret(named.secret);
    if (!stored) throw failure(404, NOT_FOUND);
    return answerWav(request, stored, named.channel);
  },
});

/** Answers a request for a recording: a WAV file made as it is sent, whole or the range that was asked for. */
import { Readable } from "node:stream";
import { BYTES_PER_SAMPLE, bytesToSamples, clampSample, samplesToBytes } from "@offhook/audio/pcm";
import { wavHeader } from "@offhook/audio/wav";
import type { VendorRequest, VendorResponse } from "@offhook/platform/http/operation";
import { type ByteRange, parseRange } from "@offhook/platform/http/range";
import { LANES } from "./call-audio.ts";
import { FRAME_BYTES } from "./recording.ts";
import type { StoredRecording } from "./recording-store.ts";

/** What of a recording: both sides in one, beside each other, or one of them; in the vendor's words. */
export const CHANNELS = ["mono", "stereo", "customer", "assistant"] as const;
export type Channel = (typeof CHANNELS)[number];

/** Answers with the recording so far, as WAV. Understands `Range` of one range, and `If-Range`. */
export function answerWav(
  { headers }: Pick<VendorRequest, "headers">,
  { callId, recording }: StoredRecording,
  channel: Channel,
): VendorResponse {
  const frames = recording.bytes / FRAME_BYTES;
  const channels = channel === "stereo" ? LANES : 1;
  const header = wavHeader({ sampleRate: recording.sampleRate, channels, frames });
  const totalBytes = header.length + frames * channels * BYTES_PER_SAMPLE;
  // The length tells the states of a recording that grows apart.
  const etag = `"${callId}-${channel}-${totalBytes}"`;
  const common = {
    "content-type": "audio/wav",
    "accept-ranges": "bytes",
    etag,
    "cache-control": "private, no-cache",
  };
  const ifRange = headers["if-range"];
  const asked = ifRange === undefined || ifRange === etag ? parseRange(headers.range, totalBytes) : "whole";
  if (asked === "unsatisfiable") {
    return { status: 416, headers: { ...common, "content-range": `bytes */${totalBytes}` } };
  }
  const range = asked === "whole" ? { start: 0, end: totalBytes } : asked;
  const body = Readable.from(
    channel === "stereo"
      ? pieces(header, range, FRAME_BYTES, (from, to) => recording.read(from, to))
      : pieces(header, range, BYTES_PER_SAMPLE, (from, to) =>
          oneChannel(recording.read(LANES * from, LANES * to), channel),
        ),
    { objectMode: false },
  );
  const length = { "content-length": String(range.end - range.start) };
  if (asked === "whole") return { status: 200, headers: { ...common, ...length }, body };
  const contentRange = `bytes ${range.start}-${range.end - 1}/${totalBytes}`;
  return { status: 206, headers: { ...common, ...length, "content-range": contentRange }, body };
}

/**
 * A range of a file that is a header and frames.
 * @param read the frames between two byte offsets behind the header, which are multiples of `frameBytes`
 */
async function* pieces(
  header: Buffer,
  { start, end }: ByteRange,
  frameBytes: number,
  read: (from: number, to: number) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  if (start < header.length) yield header.subarray(start, end);
  const wanted = { start: Math.max(0, start - header.length), end: end - header.length };
  if (wanted.end <= wanted.start) return;
  let at = wanted.start - (wanted.start % frameBytes);
  for await (const piece of read(at, Math.ceil(wanted.end / frameBytes) * frameBytes)) {
    yield piece.subarray(Math.max(0, wanted.start - at), wanted.end - at);
    at += piece.length;
  }
}

/** One channel of stereo audio; `mono` is both of them added. */
async function* oneChannel(
  stereo: AsyncIterable<Buffer>,
  channel: Exclude<Channel, "stereo">,
): AsyncGenerator<Buffer> {
  for await (const piece of stereo) {
    const both = bytesToSamples(piece);
    const one = new Int16Array(both.length / LANES);
    for (let index = 0; index < one.length; index++) {
      const customer = both[LANES * index] ?? 0;
      const assistant = both[LANES * index + 1] ?? 0;
      if (channel === "mono") one[index] = clampSample(customer + assistant);
      else one[index] = channel === "customer" ? customer : assistant;
    }
    yield samplesToBytes(one);
  }
}

/** Gives every sample the same level and the same silence around it. */
import { applyGain, CALLER_RATE, concatSamples, levelDb, silence } from "./signal.ts";

/** Silence before and after each utterance. */
const MARGIN_MS = 400;
/** Level of every voice. */
const SPEECH_LEVEL_DB = -22;
/** Samples quieter than this at either end of a recording are not speech. */
const EDGE_LEVEL = 60;

/** Trims the silence of a recording, sets the common level, and adds the common margins. */
export function normaliseRecording(recording: Int16Array): Int16Array {
  const trimmed = trimEdges(recording);
  if (trimmed.length === 0) throw new Error("nothing can be heard in this recording");
  const speech = applyGain(trimmed, SPEECH_LEVEL_DB - levelDb(trimmed));
  const margin = silence(MARGIN_MS, CALLER_RATE);
  return concatSamples(margin, speech, margin);
}

export function trimEdges(samples: Int16Array): Int16Array {
  const isLoud = (sample: number): boolean => Math.abs(sample) > EDGE_LEVEL;
  const first = samples.findIndex(isLoud);
  return first < 0 ? new Int16Array(0) : samples.subarray(first, samples.findLastIndex(isLoud) + 1);
}

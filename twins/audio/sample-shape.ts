/** What every sample has in common: its level, and the silence around it. */
import { applyGain, CALLER_RATE, concatSamples, levelDb, silence } from "./pcm.ts";

/** Silence before and after each utterance. */
const MARGIN_MS = 400;
/** Every voice is brought to this level. */
const SPEECH_LEVEL_DB = -22;
/** Quieter than this at either end of what the synthesiser gives is not yet, or no more, speech. */
const EDGE_LEVEL = 60;

/** Brings a recording to what a sample is: no silence of its own at the ends, the common level, the common margins. */
export function asSample(recording: Int16Array): Int16Array {
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

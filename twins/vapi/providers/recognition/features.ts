/**
 * The features that the recogniser compares: twelve mel-frequency cepstral coefficients (MFCCs) per 16 ms, which describe
 * the shape of the spectrum without the pitch. Each coefficient is normalised over the utterance, so that loudness and
 * line do not matter.
 */
import { MEL_BANDS, type MelSpectrogram } from "./spectrum.ts";

export const COEFFICIENTS = 12;

/** A local copy for the inner loops: test runners turn every use of an import into a property look-up. */
const BANDS = MEL_BANDS;

/** `COEFFICIENTS` values per frame, each with mean 0 and variance 1 over all frames. */
export interface Features {
  frames: number;
  values: Float32Array;
}

/** Speech spans the first to the last frame that is at most this much below the loud frames … */
const QUIETEST_SPEECH_DB = 25;
/** … and at least this much above the noise or, in loud noise, this share of the contrast above it. */
const ABOVE_NOISE_DB = 8;
const ABOVE_NOISE_SHARE = 0.45;
/** Even a single word in minutes of silence has this many loud frames. */
const LOUD_FRAMES = 12;
/** Sound whose loud frames exceed its quiet ones by less than this is noise. */
const MIN_CONTRAST_DB = 6;
/** Sound whose loud frames are below this is silence; mean power of a mel band. */
const SILENCE_POWER = 1e5;
/**
 * Masking floor below the loud frames: weaker power is ignored, because noise changes it first. Measured: noise at 20 dB
 * moves an utterance a third as far as without the floor.
 */
const MASK_DB = 12;

/** Cuts `sound` to the frames from the start to the end of speech; `undefined` without speech. */
export function trimToSpeech(sound: MelSpectrogram): MelSpectrogram | undefined {
  const levels = frameLevels(sound);
  const sorted = levels.toSorted();
  const loud = Math.max(percentile(sorted, 0.95), sorted[sorted.length - LOUD_FRAMES] ?? 0);
  const quiet = percentile(sorted, 0.05);
  const contrastDb = 10 * Math.log10(loud / Math.max(quiet, Number.EPSILON));
  if (loud < SILENCE_POWER || contrastDb < MIN_CONTRAST_DB) return undefined;
  const aboveQuietDb = Math.min(ABOVE_NOISE_DB, ABOVE_NOISE_SHARE * contrastDb);
  const threshold = Math.max(loud * fromDb(-QUIETEST_SPEECH_DB), quiet * fromDb(aboveQuietDb));
  const isSpeech = (level: number): boolean => level >= threshold;
  return sliceFrames(sound, levels.findIndex(isSpeech), levels.findLastIndex(isSpeech) + 1);
}

/** Frames `from` (inclusive) to `to` (exclusive). */
export function sliceFrames(sound: MelSpectrogram, from: number, to: number): MelSpectrogram {
  return { frames: to - from, powers: sound.powers.subarray(from * BANDS, to * BANDS) };
}

/** For each frame, whether it has sound or belongs to a pause. */
export function soundingFrames(sound: MelSpectrogram): boolean[] {
  const levels = frameLevels(sound);
  const threshold = percentile(levels.toSorted(), 0.95) * fromDb(-QUIETEST_SPEECH_DB);
  return Array.from(levels, (level) => level >= threshold);
}

/** Features of speech that fills `sound` from end to end. */
export function extractFeatures(sound: MelSpectrogram): Features {
  const mask = percentile(frameLevels(sound).toSorted(), 0.95) * fromDb(-MASK_DB);
  const values = new Float32Array(sound.frames * COEFFICIENTS);
  const logs = new Float64Array(BANDS);
  for (let frame = 0; frame < sound.frames; frame++) {
    for (let band = 0; band < BANDS; band++) {
      logs[band] = Math.log((sound.powers[frame * BANDS + band] ?? 0) + mask);
    }
    for (let index = 0; index < COEFFICIENTS; index++) {
      let sum = 0;
      for (let band = 0; band < BANDS; band++) {
        sum += (logs[band] ?? 0) * (COSINES[index * BANDS + band] ?? 0);
      }
      values[frame * COEFFICIENTS + index] = sum;
    }
  }
  for (let index = 0; index < COEFFICIENTS; index++) normalise(values, sound.frames, index);
  return { frames: sound.frames, values };
}

/** Rows of the cosine transform, without the first, which is loudness. */
const COSINES = Float64Array.from({ length: COEFFICIENTS * BANDS }, (_, at) => {
  const [index, band] = [Math.floor(at / BANDS) + 1, at % BANDS];
  return Math.cos((Math.PI * index * (band + 0.5)) / BANDS);
});

/** Gives one coefficient mean 0 and variance 1. */
function normalise(values: Float32Array, frames: number, index: number): void {
  let [sum, squares] = [0, 0];
  for (let frame = 0; frame < frames; frame++) {
    const value = values[frame * COEFFICIENTS + index] ?? 0;
    sum += value;
    squares += value * value;
  }
  const mean = sum / frames;
  const deviation = Math.sqrt(Math.max(squares / frames - mean * mean, 1e-6));
  for (let at = index; at < frames * COEFFICIENTS; at += COEFFICIENTS) {
    values[at] = ((values[at] ?? 0) - mean) / deviation;
  }
}

/** Mean power of a band in each frame. */
function frameLevels({ frames, powers }: MelSpectrogram): Float32Array {
  return new Float32Array(frames).map((_, frame) => {
    let sum = 0;
    for (let band = 0; band < BANDS; band++) sum += powers[frame * BANDS + band] ?? 0;
    return sum / BANDS;
  });
}

function percentile(sorted: Float32Array, share: number): number {
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}

function fromDb(decibels: number): number {
  return 10 ** (decibels / 10);
}

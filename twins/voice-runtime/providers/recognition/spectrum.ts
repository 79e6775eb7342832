/** Power spectra on the mel scale: what the ear keeps of a sound. */
import { INTERNAL_RATE } from "../provider.ts";

export const WINDOW_SAMPLES = 512;
export const HOP_SAMPLES = 256;
export const MEL_BANDS = 24;

/** The telephone band, so that speech that came through 8 kHz looks like speech that did not. */
const LOWEST_HZ = 100;
const HIGHEST_HZ = 3_800;
/** Lifts high frequencies, which speech has less of. */
const PRE_EMPHASIS = 0.97;

/** A row of `MEL_BANDS` powers for each window of the audio. */
export interface MelSpectrogram {
  frames: number;
  powers: Float32Array;
}

/** Analyses mono audio at `INTERNAL_RATE` in windows of 32 ms, one every 16 ms. */
export function melSpectrogram(audio: Int16Array): MelSpectrogram {
  const frames = Math.max(0, Math.floor((audio.length - WINDOW_SAMPLES) / HOP_SAMPLES) + 1);
  const powers = new Float32Array(frames * MEL_BANDS);
  const real = new Float64Array(WINDOW_SAMPLES);
  const imaginary = new Float64Array(WINDOW_SAMPLES);
  for (let frame = 0; frame < frames; frame++) {
    const start = frame * HOP_SAMPLES;
    for (let at = 0; at < WINDOW_SAMPLES; at++) {
      const previous = audio[start + at - 1] ?? 0;
      real[at] = ((audio[start + at] ?? 0) - PRE_EMPHASIS * previous) * (HAMMING[at] ?? 0);
    }
    imaginary.fill(0);
    transform(real, imaginary);
    for (const [band, { firstBin, weights }] of MEL_FILTERS.entries()) {
      let power = 0;
      for (let at = 0; at < weights.length; at++) {
        const [re, im] = [real[firstBin + at] ?? 0, imaginary[firstBin + at] ?? 0];
        power += (weights[at] ?? 0) * (re * re + im * im);
      }
      powers[frame * MEL_BANDS + band] = power;
    }
  }
  return { frames, powers };
}

const HAMMING = Float64Array.from(
  { length: WINDOW_SAMPLES },
  (_, at) => 0.54 - 0.46 * Math.cos((2 * Math.PI * at) / (WINDOW_SAMPLES - 1)),
);

interface MelFilter {
  firstBin: number;
  weights: Float64Array;
}

const MEL_FILTERS: MelFilter[] = Array.from({ length: MEL_BANDS }, (_, band) => {
  const toMel = (hertz: number): number => 2_595 * Math.log10(1 + hertz / 700);
  const toBin = (mel: number): number => ((700 * (10 ** (mel / 2_595) - 1)) / INTERNAL_RATE) * WINDOW_SAMPLES;
  const step = (toMel(HIGHEST_HZ) - toMel(LOWEST_HZ)) / (MEL_BANDS + 1);
  const edge = (index: number): number => toBin(toMel(LOWEST_HZ) + step * index);
  const [low, middle, high] = [edge(band), edge(band + 1), edge(band + 2)];
  const firstBin = Math.ceil(low);
  const weights = Float64Array.from({ length: Math.floor(high) - firstBin + 1 }, (_, at) => {
    const bin = firstBin + at;
    return bin <= middle ? (bin - low) / (middle - low) : (high - bin) / (high - middle);
  });
  return { firstBin, weights };
});

const COSINES = Float64Array.from({ length: WINDOW_SAMPLES / 2 }, (_, at) =>
  Math.cos((2 * Math.PI * at) / WINDOW_SAMPLES),
);
const SINES = Float64Array.from({ length: WINDOW_SAMPLES / 2 }, (_, at) =>
  Math.sin((2 * Math.PI * at) / WINDOW_SAMPLES),
);

/** Fast Fourier transform in place, radix 2, `WINDOW_SAMPLES` points. */
function transform(real: Float64Array, imaginary: Float64Array): void {
  const size = WINDOW_SAMPLES;
  for (let at = 1, reversed = 0; at < size; at++) {
    let bit = size >> 1;
    for (; reversed & bit; bit >>= 1) reversed ^= bit;
    reversed ^= bit;
    if (at >= reversed) continue;
    const [re, im] = [real[at] ?? 0, imaginary[at] ?? 0];
    real[at] = real[reversed] ?? 0;
    imaginary[at] = imaginary[reversed] ?? 0;
    real[reversed] = re;
    imaginary[reversed] = im;
  }
  for (let half = 1; half < size; half *= 2) {
    const step = size / (2 * half);
    for (let start = 0; start < size; start += 2 * half) {
      for (let k = 0; k < half; k++) {
        const [a, b] = [start + k, start + k + half];
        const [cos, sin] = [COSINES[k * step] ?? 0, SINES[k * step] ?? 0];
        const [bRe, bIm] = [real[b] ?? 0, imaginary[b] ?? 0];
        const turnedRe = bRe * cos + bIm * sin;
        const turnedIm = bIm * cos - bRe * sin;
        const [aRe, aIm] = [real[a] ?? 0, imaginary[a] ?? 0];
        real[a] = aRe + turnedRe;
        imaginary[a] = aIm + turnedIm;
        real[b] = aRe - turnedRe;
        imaginary[b] = aIm - turnedIm;
      }
    }
  }
}

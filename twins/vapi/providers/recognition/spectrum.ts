/** Power spectra on the mel scale, which follows human hearing. */
import { INTERNAL_RATE } from "../provider.ts";

const WINDOW_SAMPLES = 512;
const HOP_SAMPLES = 256;
export const MEL_BANDS = 24;

/** The telephone band, so that speech sampled at 8 kHz looks like any other. */
const MIN_HZ = 100;
const MAX_HZ = 3_800;
/** Boosts high frequencies, of which speech has less. */
const PRE_EMPHASIS = 0.97;

/** One row of `MEL_BANDS` powers per window. */
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
  // Transforms two real windows as one complex signal; symmetry separates their spectra again.
  for (let frame = 0; frame < frames; frame += 2) {
    takeWindow(audio, frame * HOP_SAMPLES, real);
    takeWindow(audio, (frame + 1) * HOP_SAMPLES, imaginary);
    transform(real, imaginary);
    sumBands(real, imaginary, powers.subarray(frame * MEL_BANDS, (frame + 2) * MEL_BANDS));
  }
  return { frames, powers };
}

function takeWindow(audio: Int16Array, start: number, window: Float64Array): void {
  let previous = audio[start - 1] ?? 0;
  for (let at = 0; at < WINDOW_SAMPLES; at++) {
    const sample = audio[start + at] ?? 0;
    window[at] = (sample - PRE_EMPHASIS * previous) * (HAMMING[at] ?? 0);
    previous = sample;
  }
}

/** Writes the bands of the first window and, if there is room, of the second. */
function sumBands(real: Float64Array, imaginary: Float64Array, powers: Float32Array): void {
  const hasSecond = powers.length > MEL_BANDS;
  for (let band = 0; band < MEL_BANDS; band++) {
    const filter = MEL_FILTERS[band];
    if (filter === undefined) return;
    const { firstBin, weights } = filter;
    let first = 0;
    let second = 0;
    for (let at = 0; at < weights.length; at++) {
      const bin = firstBin + at;
      const re = real[bin] ?? 0;
      const im = imaginary[bin] ?? 0;
      const mirrorRe = real[WINDOW_SAMPLES - bin] ?? 0;
      const mirrorIm = imaginary[WINDOW_SAMPLES - bin] ?? 0;
      const weight = (weights[at] ?? 0) / 4;
      first += weight * ((re + mirrorRe) ** 2 + (im - mirrorIm) ** 2);
      second += weight * ((im + mirrorIm) ** 2 + (re - mirrorRe) ** 2);
    }
    powers[band] = first;
    if (hasSecond) powers[MEL_BANDS + band] = second;
  }
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
  const step = (toMel(MAX_HZ) - toMel(MIN_HZ)) / (MEL_BANDS + 1);
  const edge = (index: number): number => toBin(toMel(MIN_HZ) + step * index);
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

/** For each index the one with its bits in reverse order. */
const REVERSED = Uint16Array.from({ length: WINDOW_SAMPLES }, (_, at) => {
  let reversed = 0;
  for (let bit = 1; bit < WINDOW_SAMPLES; bit *= 2) reversed = reversed * 2 + (at & bit ? 1 : 0);
  return reversed;
});

/** Fast Fourier transform in place, radix 2, `WINDOW_SAMPLES` points. */
function transform(real: Float64Array, imaginary: Float64Array): void {
  for (let at = 0; at < WINDOW_SAMPLES; at++) {
    const reversed = REVERSED[at] ?? 0;
    if (reversed <= at) continue;
    const re = real[at] ?? 0;
    const im = imaginary[at] ?? 0;
    real[at] = real[reversed] ?? 0;
    imaginary[at] = imaginary[reversed] ?? 0;
    real[reversed] = re;
    imaginary[reversed] = im;
  }
  for (let half = 1; half < WINDOW_SAMPLES; half *= 2) {
    const step = WINDOW_SAMPLES / (2 * half);
    for (let k = 0; k < half; k++) {
      const cos = COSINES[k * step] ?? 0;
      const sin = SINES[k * step] ?? 0;
      for (let a = k; a < WINDOW_SAMPLES; a += 2 * half) {
        const b = a + half;
        const bRe = real[b] ?? 0;
        const bIm = imaginary[b] ?? 0;
        const turnedRe = bRe * cos + bIm * sin;
        const turnedIm = bIm * cos - bRe * sin;
        const aRe = real[a] ?? 0;
        const aIm = imaginary[a] ?? 0;
        real[a] = aRe + turnedRe;
        imaginary[a] = aIm + turnedIm;
        real[b] = aRe - turnedRe;
        imaginary[b] = aIm - turnedIm;
      }
    }
  }
}

/** Common arithmetic on mono 16-bit samples. Imports nothing of Node, so that a page of the browser may use it. */

/** Sample rate of callers' audio and of every shipped sample. */
export const CALLER_RATE = 24_000;

/** Length of a telephone line's frames. */
export const FRAME_MS = 20;

/** Rounds to the nearest 16-bit sample, saturating. */
export function clampSample(value: number): number {
  if (value >= 32_767) return 32_767;
  if (value <= -32_768) return -32_768;
  return Math.round(value);
}

/** Changes the level by `decibels`, saturating. */
export function applyGain(samples: Int16Array, decibels: number): Int16Array {
  const factor = 10 ** (decibels / 20);
  return samples.map((sample) => clampSample(sample * factor));
}

/** Root-mean-square level in dBFS (0 = full-scale square wave); `-Infinity` for digital silence or no samples. */
export function levelDb(samples: Int16Array): number {
  if (samples.length === 0) return Number.NEGATIVE_INFINITY;
  let energy = 0;
  for (const sample of samples) energy += sample * sample;
  return 10 * Math.log10(energy / samples.length / 32_768 ** 2);
}

/** Adds two signals sample by sample, saturating; the result is as long as the longer one. */
export function mix(a: Int16Array, b: Int16Array): Int16Array {
  const [longer, shorter] = a.length >= b.length ? [a, b] : [b, a];
  return longer.map((sample, index) => clampSample(sample + (shorter[index] ?? 0)));
}

/** Joins pieces of audio of the same rate. */
export function concatSamples(...pieces: readonly Int16Array[]): Int16Array {
  const joined = new Int16Array(pieces.reduce((total, piece) => total + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** Digital silence. */
export function silence(durationMs: number, sampleRate: number): Int16Array {
  return new Int16Array(msToSamples(durationMs, sampleRate));
}

export function msToSamples(durationMs: number, sampleRate: number): number {
  return Math.round((durationMs * sampleRate) / 1000);
}

export function samplesToMs(samples: number, sampleRate: number): number {
  return (samples * 1000) / sampleRate;
}

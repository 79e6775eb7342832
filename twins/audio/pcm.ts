/**
 * Mono PCM16: conversions between bytes and samples, and the arithmetic on samples that several parts need.
 * On the wire PCM16 is little-endian; in memory it is an `Int16Array` in the machine's order.
 */
import { endianness } from "node:os";

export const BYTES_PER_SAMPLE = 2;

/** Samples per second of callers' audio and of every shipped sample. */
export const CALLER_RATE = 24_000;

/** Length of the frames a telephone line is cut into. */
export const FRAME_MS = 20;

const MACHINE_IS_LITTLE_ENDIAN = endianness() === "LE";

/**
 * Reads little-endian PCM16 bytes as samples (a copy, so the result is aligned and owned by the caller).
 * @throws RangeError on an odd number of bytes: half a sample has no meaning here. Streams cut anywhere need a
 *   `SampleAligner` before this.
 */
export function bytesToSamples(bytes: Uint8Array): Int16Array {
  if (bytes.byteLength % BYTES_PER_SAMPLE !== 0) {
    throw new RangeError(`PCM16 needs an even number of bytes, got ${bytes.byteLength}`);
  }
  // A plain Uint8Array: slicing a Buffer would share its memory, from wherever it starts.
  const copy = new Uint8Array(bytes);
  if (!MACHINE_IS_LITTLE_ENDIAN) Buffer.from(copy.buffer).swap16();
  return new Int16Array(copy.buffer);
}

/** Writes samples as little-endian PCM16 bytes (a copy). */
export function samplesToBytes(samples: Int16Array): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(samples.slice().buffer);
  if (!MACHINE_IS_LITTLE_ENDIAN) bytes.swap16();
  return bytes;
}

/** Turns a byte stream cut anywhere into samples: an odd byte waits for its other half. */
export class SampleAligner {
  #half: Uint8Array = new Uint8Array(0);

  /** The whole samples in what came so far and was not yet given out. */
  push(bytes: Uint8Array): Int16Array {
    const all = this.#half.byteLength === 0 ? bytes : Buffer.concat([this.#half, bytes]);
    const wholeBytes = all.byteLength - (all.byteLength % BYTES_PER_SAMPLE);
    this.#half = new Uint8Array(all.subarray(wholeBytes));
    return bytesToSamples(all.subarray(0, wholeBytes));
  }
}

/** Nearest 16-bit sample; beyond the range it saturates. */
export function clampSample(value: number): number {
  if (value >= 32_767) return 32_767;
  if (value <= -32_768) return -32_768;
  return Math.round(value);
}

/** Louder or quieter by `decibels`; saturates like a converter does. */
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

/**
 * Mono PCM16: conversion between bytes and samples, and common arithmetic on samples. On the wire PCM16 is little-endian;
 * in memory it is an `Int16Array` in the machine's byte order.
 */
import { endianness } from "node:os";

export const BYTES_PER_SAMPLE = 2;

/** Sample rate of callers' audio and of every shipped sample. */
export const CALLER_RATE = 24_000;

/** Length of a telephone line's frames. */
export const FRAME_MS = 20;

const MACHINE_IS_LITTLE_ENDIAN = endianness() === "LE";

/**
 * Converts little-endian PCM16 bytes to samples (a copy, so the result is aligned and owned by the caller).
 * @throws RangeError for an odd number of bytes; streams that may be cut inside a sample need a `SampleAligner`
 */
export function bytesToSamples(bytes: Uint8Array): Int16Array {
  if (bytes.byteLength % BYTES_PER_SAMPLE !== 0) {
    throw new RangeError(`PCM16 needs an even number of bytes, got ${bytes.byteLength}`);
  }
  // A plain Uint8Array, because slicing a Buffer would share its memory at an unaligned offset.
  const copy = new Uint8Array(bytes);
  if (!MACHINE_IS_LITTLE_ENDIAN) Buffer.from(copy.buffer).swap16();
  return new Int16Array(copy.buffer);
}

/** Converts samples to little-endian PCM16 bytes (a copy). */
export function samplesToBytes(samples: Int16Array): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(samples.slice().buffer);
  if (!MACHINE_IS_LITTLE_ENDIAN) bytes.swap16();
  return bytes;
}

/** Converts a byte stream cut anywhere into samples; keeps an odd byte until its other half arrives. */
export class SampleAligner {
  #half: Uint8Array = new Uint8Array(0);

  /** The samples completed by `bytes`. */
  push(bytes: Uint8Array): Int16Array {
    const all = this.#half.byteLength === 0 ? bytes : Buffer.concat([this.#half, bytes]);
    const wholeBytes = all.byteLength - (all.byteLength % BYTES_PER_SAMPLE);
    this.#half = new Uint8Array(all.subarray(wholeBytes));
    return bytesToSamples(all.subarray(0, wholeBytes));
  }
}

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

/**
 * Mono PCM16: conversion between bytes and samples, and common arithmetic on samples. On the wire PCM16 is little-endian;
 * in memory it is an `Int16Array` in the machine's byte order.
 */
import { endianness } from "node:os";

export * from "./signal.ts";

export const BYTES_PER_SAMPLE = 2;

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
  // Copies into Node's pool: half the time of `slice` or less, which allocates outside of it.
  const bytes = Buffer.from(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
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

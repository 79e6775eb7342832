/** The audio of a call: PCM16 little-endian, 24 kHz, mono, raw bytes. */

export const SAMPLE_RATE = 24_000;
export const BYTES_PER_SAMPLE = 2;

/** Bytes of the given length of audio. */
export function bytesOf(milliseconds: number): number {
  return Math.round((milliseconds * SAMPLE_RATE) / 1000) * BYTES_PER_SAMPLE;
}

/** Peaks of about 512 of 32768 (-36 dBFS) and more count as audible. */
const QUIET_HIGH_BYTE = 2;
const STRIDE_BYTES = 16;

/**
 * Whether whole samples of audio hold anything a person would hear. It looks at the high byte of every eighth sample:
 * cheap enough for every frame of every call, and speech has energy far below the 1.5 kHz this still resolves.
 */
export function isAudible(samples: Buffer): boolean {
  for (let index = 1; index < samples.length; index += STRIDE_BYTES) {
    const highByte = samples[index] ?? 0;
    if (((highByte + QUIET_HIGH_BYTE) & 0xff) >= 2 * QUIET_HIGH_BYTE) return true;
  }
  return false;
}

/**
 * Cuts a byte stream of audio into whole samples. The half sample a chunk of odd length ends with is held back and
 * joined to the next chunk, so the stream as a whole is unchanged.
 */
export class SampleAligner {
  #half: number | undefined;

  /** Takes the next bytes of the stream; answers the whole samples they complete, possibly none. Copies only when it must. */
  push(chunk: Buffer): Buffer {
    if (this.#half === undefined) {
      if (chunk.length % BYTES_PER_SAMPLE === 0) return chunk;
      this.#half = chunk[chunk.length - 1];
      return chunk.subarray(0, chunk.length - 1);
    }
    if (chunk.length === 0) return chunk;
    const wholeBytes = (chunk.length + 1) & ~1;
    const joined = Buffer.allocUnsafe(wholeBytes);
    joined[0] = this.#half;
    chunk.copy(joined, 1, 0, wholeBytes - 1);
    this.#half = wholeBytes > chunk.length ? undefined : chunk[chunk.length - 1];
    return joined;
  }
}

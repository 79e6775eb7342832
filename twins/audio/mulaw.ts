/** µ-law companding of ITU-T G.711: 14 significant bits of a PCM16 sample in one byte. */

const BIAS = 0x84;
const CLIP = 32_635;

const DECODED = Int16Array.from({ length: 256 }, (_, code) => expand(code));

/** One byte per sample. */
export function encodeMulaw(samples: Int16Array): Uint8Array {
  return Uint8Array.from(samples, compress);
}

/** One PCM16 sample per byte. */
export function decodeMulaw(bytes: Uint8Array): Int16Array {
  return Int16Array.from(bytes, (code) => DECODED[code] ?? 0);
}

function compress(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(Math.abs(sample), CLIP) + BIAS;
  const segment = 24 - Math.clz32(magnitude);
  const mantissa = (magnitude >> (segment + 3)) & 0x0f;
  return ~(sign | (segment << 4) | mantissa) & 0xff;
}

function expand(code: number): number {
  const bits = ~code & 0xff;
  const segment = (bits >> 4) & 0x07;
  const magnitude = ((((bits & 0x0f) << 3) + BIAS) << segment) - BIAS;
  return bits & 0x80 ? -magnitude : magnitude;
}

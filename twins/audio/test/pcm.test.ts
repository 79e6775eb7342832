import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  applyGain,
  bytesToSamples,
  concatSamples,
  levelDb,
  mix,
  SampleAligner,
  samplesToBytes,
} from "../pcm.ts";

const anyBytes = fc.uint8Array({ maxLength: 400 });

describe("PCM16", () => {
  test("is little-endian, at any offset in a buffer", () => {
    const bytes = Buffer.from([0xff, 0x01, 0x00, 0xff, 0x7f, 0x00, 0x80]).subarray(1);
    expect([...bytesToSamples(bytes)]).toEqual([1, 32_767, -32_768]);
    expect([...samplesToBytes(Int16Array.of(0, 1, 32_767, -32_768).subarray(1))]).toEqual([...bytes]);
  });

  test("bytes and samples are inverse, and copies", () => {
    fc.assert(
      fc.property(anyBytes, fc.nat(7), (bytes, offset) => {
        const even = Buffer.concat([Buffer.alloc(offset), bytes]).subarray(
          offset,
          offset + (bytes.length & ~1),
        );
        const samples = bytesToSamples(even);
        expect(samplesToBytes(samples)).toEqual(Buffer.from(even));
        samples.fill(7);
        expect(Buffer.from(even)).toEqual(Buffer.from(bytes.subarray(0, even.length)));
      }),
    );
  });

  test("half a sample is refused", () => {
    expect(() => bytesToSamples(new Uint8Array(3))).toThrow("even number of bytes, got 3");
  });

  test("a stream cut anywhere keeps its alignment", () => {
    fc.assert(
      fc.property(anyBytes, fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1 }), (bytes, cuts) => {
        const aligner = new SampleAligner();
        const pieces: Int16Array[] = [];
        for (let at = 0, cut = 0; at < bytes.length; cut++) {
          const size = (cuts[cut % cuts.length] ?? 0) + (cut >= cuts.length ? 1 : 0);
          pieces.push(aligner.push(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(concatSamples(...pieces)).toEqual(bytesToSamples(bytes.subarray(0, bytes.length & ~1)));
      }),
    );
  });

  test("gain is in decibels and saturates", () => {
    expect([...applyGain(Int16Array.of(1_000, -1_000, 30_000, -30_000), 6.0206)]).toEqual([
      2_000, -2_000, 32_767, -32_768,
    ]);
    expect(levelDb(new Int16Array(100).fill(-32_768))).toBeCloseTo(0);
    expect(levelDb(new Int16Array(100).fill(3_277))).toBeCloseTo(-20, 1);
    expect(levelDb(new Int16Array(100))).toBe(Number.NEGATIVE_INFINITY);
  });

  test("mixing saturates and is as long as the longer signal", () => {
    expect([...mix(Int16Array.of(1, 30_000), Int16Array.of(2, 30_000, 5))]).toEqual([3, 32_767, 5]);
  });
});

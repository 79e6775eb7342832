import { describe, expect, test } from "vitest";
import wavefile from "wavefile";
import { readWav, writeWav } from "../wav.ts";

const SAMPLES = new Int16Array(800).map((_, at) => Math.round(9_000 * Math.sin(at / 7)));

function wav(
  channels: number,
  bitDepth: string,
  samples: ArrayLike<number> | ArrayLike<number>[],
): Uint8Array {
  const file = new wavefile.WaveFile();
  file.fromScratch(channels, 8_000, bitDepth, samples);
  return file.toBuffer();
}

describe("WAV files", () => {
  test("16-bit mono comes back as it was", () => {
    expect(readWav(writeWav({ samples: SAMPLES, sampleRate: 24_000 }))).toEqual({
      samples: SAMPLES,
      sampleRate: 24_000,
    });
  });

  test("channels are averaged", () => {
    const right = SAMPLES.map((sample) => sample - 100);
    const { samples } = readWav(wav(2, "16", [SAMPLES, right]));
    expect(samples).toEqual(SAMPLES.map((sample) => sample - 50));
  });

  test.each([
    ["8", (sample: number) => (sample >> 8) + 128, 300],
    ["24", (sample: number) => sample << 8, 1],
    ["32", (sample: number) => sample << 16, 1],
    ["32f", (sample: number) => sample / 32_768, 2],
  ] as const)("other bit depths are converted: %s", (bitDepth, convert, tolerance) => {
    const { samples } = readWav(wav(1, bitDepth, Array.from(SAMPLES, convert)));
    expect(samples).toHaveLength(SAMPLES.length);
    for (const [at, sample] of samples.entries()) {
      expect(Math.abs(sample - (SAMPLES[at] ?? 0))).toBeLessThanOrEqual(tolerance);
    }
  });

  test("µ-law is decoded", () => {
    const file = new wavefile.WaveFile(wav(1, "16", SAMPLES));
    file.toMuLaw();
    const { samples } = readWav(file.toBuffer());
    for (const [at, sample] of samples.entries())
      expect(Math.abs(sample - (SAMPLES[at] ?? 0))).toBeLessThan(600);
  });

  test("a file that is no WAV is refused", () => {
    expect(() => readWav(Buffer.from("nothing to hear"))).toThrow();
  });
});

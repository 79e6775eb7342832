import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createResampler, MAX_SAMPLE_RATE, MIN_SAMPLE_RATE, resample } from "../resample.ts";

const RATE = 16_000;

function sine(hz: number, sampleRate: number): Int16Array {
  return Int16Array.from(
    { length: sampleRate },
    (_, at) => 10_000 * Math.sin((2 * Math.PI * hz * at) / sampleRate),
  );
}

describe("every rate a call may be negotiated at", () => {
  test.each([
    MIN_SAMPLE_RATE,
    3_001,
    8_000,
    11_025,
    22_050,
    44_100,
    96_000,
    MAX_SAMPLE_RATE - 1,
    MAX_SAMPLE_RATE,
  ])("%d samples per second keep a tone as it is, there and back", (rate) => {
    const tone = sine(700, RATE);
    const there = resample(tone, RATE, rate);
    expect(there.length).toBe(rate);
    const back = resample(there, rate, RATE);
    const middle = Array.from(back.subarray(RATE / 4, RATE / 2), (sample, at) =>
      Math.abs(sample - (tone[RATE / 4 + at] ?? 0)),
    );
    expect(Math.max(...middle)).toBeLessThan(60);
  });

  test("how a stream is cut into chunks makes no difference", () => {
    const whole = resample(sine(500, 24_000), 24_000, RATE);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 30 }), (sizes) => {
        const resampler = createResampler(24_000, RATE);
        const samples = sine(500, 24_000);
        const pieces: number[] = [];
        let at = 0;
        for (const size of sizes) {
          pieces.push(...resampler.push(samples.subarray(at, at + size)));
          at += size;
        }
        pieces.push(...resampler.push(samples.subarray(at)), ...resampler.flush());
        expect(Int16Array.from(pieces)).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });
});

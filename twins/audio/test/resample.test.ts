import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { concatSamples, levelDb } from "../pcm.ts";
import { createResampler, MAX_SAMPLE_RATE, MIN_SAMPLE_RATE, resample } from "../resample.ts";

const CONVERSIONS = [
  [24_000, 16_000],
  [16_000, 24_000],
  [8_000, 16_000],
  [16_000, 8_000],
  [48_000, 16_000],
  [16_000, 48_000],
  [44_100, 16_000],
  [16_000, 44_100],
  [11_025, 16_000],
  [48_000, 8_000],
  [8_000, 48_000],
  [24_000, 22_050],
  [44_101, 16_000],
  [192_000, 16_000],
] as const;

function tone(hertz: number, rate: number, amplitude = 16_000): Int16Array {
  return new Int16Array(rate).map((_, at) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hertz * at) / rate)),
  );
}

/** Level of the part of a signal at one frequency, in dBFS of its sine's root mean square. */
function toneLevelDb(samples: Int16Array, hertz: number, rate: number): number {
  let [re, im, weights] = [0, 0, 0];
  for (const [at, sample] of samples.entries()) {
    const weight = Math.sin((Math.PI * at) / samples.length) ** 2;
    re += weight * sample * Math.cos((2 * Math.PI * hertz * at) / rate);
    im += weight * sample * Math.sin((2 * Math.PI * hertz * at) / rate);
    weights += weight;
  }
  return 20 * Math.log10((Math.SQRT2 * Math.hypot(re, im)) / weights / 32_768);
}

/** Without its beginning and end, where the filter looks beyond the signal. */
function middle(samples: Int16Array): Int16Array {
  return samples.subarray(samples.length >> 3, -(samples.length >> 3));
}

describe.each(CONVERSIONS)("from %d to %d samples per second", (from, to) => {
  const lower = Math.min(from, to);

  test("passes everything below 0.4 of the lower rate within half a decibel", () => {
    for (const share of [0.01, 0.1, 0.25, 0.35, 0.4]) {
      const hertz = Math.round(share * lower);
      const change =
        toneLevelDb(middle(resample(tone(hertz, from), from, to)), hertz, to) - levelDb(tone(hertz, from));
      expect(Math.abs(change), `${hertz} Hz`).toBeLessThan(0.5);
    }
  });

  test("adds nothing louder than 50 dB below a tone: neither alias nor image", () => {
    for (const share of [0.05, 0.2, 0.4]) {
      const hertz = Math.round(share * lower);
      const converted = middle(resample(tone(hertz, from), from, to));
      const reference = middle(tone(hertz, to));
      const error = converted.map((sample, at) => sample - (reference[at] ?? 0));
      expect(levelDb(error) - levelDb(reference), `${hertz} Hz`).toBeLessThan(-50);
    }
    if (to >= from) return;
    for (const hertz of [0.5 * to, 0.6 * to, (to + from) / 4, 0.49 * from]) {
      if (hertz > from / 2) continue;
      const left = levelDb(middle(resample(tone(hertz, from), from, to))) - levelDb(tone(hertz, from));
      expect(left, `${hertz} Hz`).toBeLessThan(-50);
    }
  });

  test("gives the same for any chunks, sample for sample, and the exact length", () => {
    const audio = tone(440, from).subarray(0, 3_001);
    const whole = resample(audio, from, to);
    expect(whole.length).toBe(Math.round((audio.length * to) / from));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 9 }), (sizes) => {
        const resampler = createResampler(from, to);
        const pieces: Int16Array[] = [];
        for (let at = 0, turn = 0; at < audio.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          pieces.push(resampler.push(audio.subarray(at, at + size)));
          at += size;
        }
        expect(concatSamples(...pieces, resampler.flush())).toEqual(whole);
      }),
      { numRuns: 8 },
    );
  });
});

describe("a resampler", () => {
  test("gives sound between silences as it gives the sound alone, and silence else", () => {
    // A second is a whole number of samples at any two rates: the filters stand alike at its start.
    for (const [from, to] of CONVERSIONS) {
      const sound = tone(300, from).subarray(0, Math.round(from / 3));
      const second = new Int16Array(from);
      const alone = resample(concatSamples(sound, second), from, to);
      const within = resample(concatSamples(second, sound, second, sound), from, to);
      // The filter looks ahead by less than this: to the beginning of the sound that comes next.
      const ahead = Math.round(to / 50);
      expect(within.subarray(to, to + alone.length - ahead), `${from} to ${to}`).toEqual(
        alone.subarray(0, -ahead),
      );
      expect(levelDb(within.subarray(0, to - ahead))).toBe(Number.NEGATIVE_INFINITY);
      expect(levelDb(alone.subarray(-to / 2))).toBe(Number.NEGATIVE_INFINITY);
    }
  });

  test("does not drift: after an hour every sample is still in its place", () => {
    const [from, to] = [4_000, 3_000];
    const resampler = createResampler(from, to);
    const second = tone(700, from);
    let given = 0;
    for (let seconds = 0; seconds < 3_600; seconds++) given += resampler.push(second).length;
    const late = resampler.push(second);
    const expected = tone(700, to);
    const shift = given - 3_600 * to;
    expect(Math.abs(shift)).toBeLessThan(64);
    const error = late.map((sample, at) => sample - (expected[(at + shift + to) % to] ?? 0));
    expect(levelDb(error) - levelDb(expected)).toBeLessThan(-50);
    expect(given + late.length + resampler.flush().length).toBe(3_601 * to);
  });

  test("is ready for another stream after its end", () => {
    const resampler = createResampler(24_000, 16_000);
    const audio = tone(700, 24_000).subarray(0, 999);
    const first = concatSamples(resampler.push(audio), resampler.flush());
    expect(concatSamples(resampler.push(audio), resampler.flush())).toEqual(first);
  });

  test("saturates instead of wrapping around", () => {
    const square = new Int16Array(2_400).map((_, at) => (at % 48 < 24 ? 32_767 : -32_768));
    const converted = resample(square, 24_000, 16_000);
    for (let at = 0; at < converted.length; at++) {
      const before = square[Math.round(at * 1.5)] ?? 0;
      if (Math.abs(converted[at] ?? 0) > 16_000 && (at * 1.5) % 24 > 3 && (at * 1.5) % 24 < 21) {
        expect(Math.sign(converted[at] ?? 0)).toBe(Math.sign(before));
      }
    }
  });

  test("passes equal rates through, and refuses unsupported rates", () => {
    expect([...resample(Int16Array.of(1, 2, 3), 16_000, 16_000)]).toEqual([1, 2, 3]);
    for (const rate of [0, MIN_SAMPLE_RATE - 1, MAX_SAMPLE_RATE + 1, 16_000.5, Number.NaN]) {
      expect(() => createResampler(rate, 16_000)).toThrow(
        `use a whole number from ${MIN_SAMPLE_RATE} to ${MAX_SAMPLE_RATE}`,
      );
    }
  });
});

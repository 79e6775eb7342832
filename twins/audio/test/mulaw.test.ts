import { describe, expect, test } from "vitest";
import { decodeMulaw, encodeMulaw } from "../mulaw.ts";

/** Code words and their decoder output from ITU-T G.711, table 2a/2b, scaled from 14 to 16 bits. */
const G711 = [
  [0x80, 32_124],
  [0x8f, 16_764],
  [0x9f, 8_316],
  [0xaf, 4_092],
  [0xbf, 1_980],
  [0xcf, 924],
  [0xdf, 396],
  [0xef, 132],
  [0xfe, 8],
  [0xff, 0],
] as const;

describe("µ-law of G.711", () => {
  test.each(G711)("code 0x%s is %d, and its mirror image the negative", (code, value) => {
    expect([...decodeMulaw(Uint8Array.of(code, code & 0x7f))]).toEqual([value, value === 0 ? 0 : -value]);
    expect(encodeMulaw(Int16Array.of(value))[0]).toBe(code);
    if (value !== 0) expect(encodeMulaw(Int16Array.of(-value))[0]).toBe(code & 0x7f);
  });

  test("every code survives decoding and encoding, negative zero as zero", () => {
    const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
    const expected = codes.map((code) => (code === 0x7f ? 0xff : code));
    expect(encodeMulaw(decodeMulaw(codes))).toEqual(expected);
  });

  test("quantises a sample to half a step of its segment, beyond the range to the largest value", () => {
    const samples = Int16Array.from({ length: 65_536 }, (_, at) => at - 32_768);
    const coded = decodeMulaw(encodeMulaw(samples));
    for (const [at, sample] of samples.entries()) {
      const magnitude = Math.min(Math.abs(sample), 32_635);
      const error = Math.abs(Math.abs(coded[at] ?? 0) - magnitude);
      if (error > (magnitude + 132) / 32) expect.fail(`${sample} comes back as ${coded[at]}`);
      if ((coded[at] ?? 0) < (coded[at - 1] ?? -32_768))
        expect.fail(`${sample} is coded below its neighbour`);
    }
  });
});

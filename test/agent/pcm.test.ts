import fc from "fast-check";
import { expect, test } from "vitest";
import { bytesOf, isAudible, SampleAligner } from "../../agent/pcm.ts";

test("a byte stream cut anywhere comes out unchanged, in whole samples", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 9 })), (chunks) => {
      const aligner = new SampleAligner();
      const out = chunks.map((chunk) => aligner.push(Buffer.from(chunk)));
      const whole = Buffer.concat(chunks);
      expect(out.every((piece) => piece.length % 2 === 0)).toBe(true);
      expect(Buffer.concat(out).equals(whole.subarray(0, whole.length & ~1))).toBe(true);
    }),
  );
});

test("an even stream is not copied", () => {
  const chunk = Buffer.from([1, 2, 3, 4]);
  expect(new SampleAligner().push(chunk)).toBe(chunk);
});

test("speech is audible, silence and faint noise are not, of either sign", () => {
  const level = (value: number) => {
    const audio = Buffer.alloc(960);
    for (let at = 0; at < audio.length; at += 2) audio.writeInt16LE(at % 4 === 0 ? value : -value, at);
    return audio;
  };
  expect(isAudible(level(0))).toBe(false);
  expect(isAudible(level(200))).toBe(false);
  expect(isAudible(level(600))).toBe(true);
  expect(isAudible(level(30_000))).toBe(true);
});

test("1700 ms are 81,600 bytes", () => {
  expect(bytesOf(1_700)).toBe(81_600);
});

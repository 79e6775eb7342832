import fc from "fast-check";
import { expect, test } from "vitest";
import { parseNumber } from "../../../spl/transactions/parse-number.ts";

test("a number within a list parses as it does alone", () => {
  const times = fc
    .tuple(fc.nat(4_000_000_000), fc.nat(999_999))
    .map(([seconds, rest]) => `${seconds}.${rest}`);
  const texts = fc.oneof(times, fc.double({ noNaN: true }).map(String), fc.maxSafeInteger().map(String));
  fc.assert(
    fc.property(texts, texts, (before, text) => {
      const list = `${before},${text},1`;
      expect(parseNumber(list, before.length + 1, before.length + 1 + text.length)).toBe(Number(text));
    }),
  );
});

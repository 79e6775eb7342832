import { expect, test } from "vitest";
import { excerptOf, nextOffset, partOf, takeFitting } from "../bounds.ts";

test("a value that fits is answered as it is, a longer one by its beginning and its length", () => {
  expect(excerptOf({ a: 1 }, 7)).toEqual({ a: 1 });
  expect(excerptOf({ a: 1 }, 6)).toEqual({ excerpt: '{"a":1', characters: 7 });
  expect(excerptOf("a text", 2)).toEqual({ excerpt: "a ", characters: 6 });
});

test("the parts of a long value make up the whole", () => {
  const whole = JSON.stringify({ text: "x".repeat(250) });
  let [read, offset]: [string, number | null] = ["", 0];
  while (offset !== null) {
    const { text, characters, next_offset } = partOf(JSON.parse(whole), offset, 100);
    expect(characters).toBe(whole.length);
    read += text;
    offset = next_offset;
  }
  expect(read).toBe(whole);
});

test("a page ends before it is too long, and has at least one entry", () => {
  const long = "x".repeat(30_000);
  expect(takeFitting([long, "y", long])).toEqual([long, "y"]);
  expect(takeFitting([long + long, "y"])).toEqual([long + long]);
  expect(nextOffset(10, 2, 13)).toBe(12);
  expect(nextOffset(10, 3, 13)).toBeNull();
});

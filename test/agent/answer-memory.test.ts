import { expect, test } from "vitest";
import { AnswerMemory } from "../../agent/answer-memory.ts";

test("work is done once for a key, however often and however soon it is asked for", async () => {
  const memory = new AnswerMemory();
  let runs = 0;
  const work = async () => {
    runs += 1;
    return `answer ${runs}`;
  };
  expect(await Promise.all([memory.once("a", work), memory.once("a", work)])).toEqual([
    "answer 1",
    "answer 1",
  ]);
  expect(await memory.once("a", work)).toBe("answer 1");
  expect(await memory.once("b", work)).toBe("answer 2");
});

test("the oldest answers are forgotten, the latest thousands and all work under way are not", async () => {
  const memory = new AnswerMemory();
  let release = (_answer: string) => {};
  const underWay = memory.once("slow", () => new Promise((resolve) => (release = resolve)));
  const answer = async () => "first";
  for (let index = 0; index < 20_000; index += 1) await memory.once(`key ${index}`, answer);
  const again = async () => "again";
  expect(await memory.once("key 19999", again)).toBe("first");
  expect(await memory.once("key 17600", again)).toBe("first");
  expect(await memory.once("key 0", again)).toBe("again");
  const repeated = memory.once("slow", again);
  release("late");
  expect(await Promise.all([underWay, repeated])).toEqual(["late", "late"]);
});

test("when nothing but work under way is remembered, more is refused instead of done twice", async () => {
  const memory = new AnswerMemory();
  const releases: (() => void)[] = [];
  const work = () => new Promise<string>((resolve) => releases.push(() => resolve("done")));
  const pending = Array.from({ length: 2_500 }, (_value, index) => memory.once(`key ${index}`, work));
  expect(await memory.once("one more", work)).toBeUndefined();
  for (const release of releases) release();
  expect(new Set(await Promise.all(pending))).toEqual(new Set(["done"]));
  expect(await memory.once("one more", async () => "now")).toBe("now");
});

test("answers are bounded in bytes too, whether they come one after the other or all at once", async () => {
  const memory = new AnswerMemory();
  const large = "x".repeat(1024 * 1024);
  for (let index = 0; index < 200; index += 1) {
    await memory.once(`key ${index}`, async () => large + index);
    expect(memory.bytes).toBeLessThan(100 * 1024 * 1024);
  }
  expect(await memory.once("key 199", async () => "again")).toBe(`${large}199`);
  expect(await memory.once("key 0", async () => "again")).toBe("again");
  const releases: (() => void)[] = [];
  const work = () => new Promise<string>((resolve) => releases.push(() => resolve(large)));
  const pending = Array.from({ length: 200 }, (_value, index) => memory.once(`at once ${index}`, work));
  for (const release of releases) release();
  await Promise.all(pending);
  expect(memory.bytes).toBeLessThan(100 * 1024 * 1024);
});

test("keys count as well: a runtime may send long ones", async () => {
  const memory = new AnswerMemory();
  for (let index = 0; index < 100; index += 1) {
    await memory.once(`${index}${"k".repeat(1024 * 1024)}`, async () => "");
  }
  expect(memory.bytes).toBeLessThan(100 * 1024 * 1024);
});

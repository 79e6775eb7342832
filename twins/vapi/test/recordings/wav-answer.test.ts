import { Readable } from "node:stream";
import { readWav } from "@offhook/audio/wav";
import { parseRange } from "@offhook/platform/http/range";
import fc from "fast-check";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RecordingStore, type StoredRecording } from "../../recordings/recording-store.ts";
import { answerWav, type Channel } from "../../recordings/wav-answer.ts";

const FRAMES = 50_001;
const CHANNELS: Channel[] = ["stereo", "mono", "customer", "assistant"];
const store = new RecordingStore({ calls: 1, bytes: 1024 * 1024 }, pino({ level: "silent" }));
let stored: StoredRecording;
const customer = (frame: number) => (frame * 7) % 20_000;
const assistant = (frame: number) => 15_000 - (frame % 30_000);

beforeAll(() => {
  const recording = store.start("call", 16_000);
  recording?.take(
    Int16Array.from({ length: 2 * FRAMES }, (_, at) =>
      at % 2 === 0 ? customer(at / 2) : assistant((at - 1) / 2),
    ),
  );
  recording?.end();
  const found = store.find("call");
  if (found === undefined) throw new Error("there is no recording");
  stored = found;
});
afterAll(() => store.close());

async function answer(channel: Channel, headers: Record<string, string> = {}) {
  const { status, headers: answered, body } = answerWav({ headers }, stored, channel);
  const chunks = body instanceof Readable ? await body.toArray() : [];
  return { status, headers: answered ?? {}, body: Buffer.concat(chunks) };
}

test("every channel is a WAV file that readers understand; mono is both sides added, without overflow", async () => {
  const samples = async (channel: Channel) => readWav((await answer(channel)).body).samples;
  const expected = (of: (frame: number) => number) =>
    Int16Array.from({ length: FRAMES }, (_, frame) => of(frame));
  const same = (a: Int16Array, b: Int16Array) => Buffer.from(a.buffer).equals(Buffer.from(b.buffer));
  expect(same(await samples("customer"), expected(customer))).toBe(true);
  expect(same(await samples("assistant"), expected(assistant))).toBe(true);
  const both = expected((frame) => Math.min(32_767, customer(frame) + assistant(frame)));
  expect(same(await samples("mono"), both)).toBe(true);
  expect((await answer("stereo")).body.readUInt16LE(22)).toBe(2);
});

test("any range is that part of the whole", async () => {
  const whole = new Map<Channel, Buffer>();
  for (const channel of CHANNELS) whole.set(channel, (await answer(channel)).body);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...CHANNELS), fc.nat(), fc.nat(), async (channel, one, other) => {
      const file = whole.get(channel) ?? Buffer.alloc(0);
      const [start = 0, end = 0] = [one % file.length, other % file.length].sort((a, b) => a - b);
      const { status, headers, body } = await answer(channel, { range: `bytes=${start}-${end}` });
      expect([status, headers["content-range"], Number(headers["content-length"])]).toEqual([
        206,
        `bytes ${start}-${end}/${file.length}`,
        end + 1 - start,
      ]);
      expect(body.equals(file.subarray(start, end + 1))).toBe(true);
    }),
    { numRuns: 200 },
  );
});

describe("a Range header", () => {
  test.each<[string | undefined, ReturnType<typeof parseRange>]>([
    [undefined, "whole"],
    ["bytes=0-", { start: 0, end: 100 }],
    ["bytes=10-19", { start: 10, end: 20 }],
    ["bytes=10-1000", { start: 10, end: 100 }],
    ["bytes=-5", { start: 95, end: 100 }],
    ["bytes=-1000", { start: 0, end: 100 }],
    ["bytes=100-", "unsatisfiable"],
    ["bytes=-0", "unsatisfiable"],
    ["bytes=20-10", "whole"],
    ["bytes=0-1,5-6", "whole"],
    ["lines=0-1", "whole"],
    ["bytes=-", "whole"],
  ])("%s", (header, expected) => {
    expect(parseRange(header, 100)).toEqual(expected);
  });
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { AudioLane, type AudioSink } from "../../agent/call/audio-lane.ts";

const LIMITS = { beforeOpenBytes: 400, waitingBytes: 400, highWaterBytes: 60 };
/** As many owed chunks as the lane holds at most. */
const MAX_OWED = 10;

/** Takes audio and keeps it until it is read. */
class SlowSink implements AudioSink {
  readonly read: Buffer[] = [];
  readonly #unread: { samples: Buffer; sent: (() => void) | undefined }[] = [];

  get bufferedBytes(): number {
    return this.#unread.reduce((bytes, { samples }) => bytes + samples.length, 0);
  }

  send(samples: Buffer, sent?: () => void): void {
    this.#unread.push({ samples, sent });
  }

  readOne(): void {
    const next = this.#unread.shift();
    if (next === undefined) return;
    this.read.push(next.samples);
    next.sent?.();
  }

  readAll(): void {
    while (this.#unread.length > 0) this.readOne();
  }
}

test("what is owed arrives whole and in order, and all other audio arrives, is dropped or is cleared", () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant("push"), size: fc.nat(120) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("insert"), size: fc.constant(40) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("clear", "connect"), size: fc.constant(0) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("read"), size: fc.constant(0) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      let droppedBytes = 0;
      const lane = new AudioLane(LIMITS, ({ bytes }) => {
        droppedBytes += bytes;
      });
      const sink = new SlowSink();
      let streamBytes = 0;
      let clearedBytes = 0;
      let owed = 0;
      for (const { do: what, size } of steps) {
        if (what === "push") streamBytes += lane.push(Buffer.alloc(size, 0xff)).length;
        else if (what === "clear") clearedBytes += lane.clear();
        else if (what === "connect") lane.connect(sink);
        else if (what === "read") sink.readOne();
        else if (owed < MAX_OWED) {
          owed += 1;
          lane.insert(Buffer.alloc(size, owed));
        }
        expect(lane.waitingBytes).toBeLessThanOrEqual(LIMITS.waitingBytes);
      }
      lane.connect(sink);
      sink.readAll();
      const ofOwed = sink.read.filter((samples) => samples[0] !== 0xff);
      expect(ofOwed.map((samples) => samples[0])).toEqual(Array.from({ length: owed }, (_, n) => n + 1));
      expect(ofOwed.every((samples) => samples.length === 40)).toBe(true);
      const arrived = sink.read.reduce((bytes, samples) => bytes + samples.length, 0) - 40 * owed;
      expect(arrived + droppedBytes + clearedBytes).toBe(streamBytes);
    }),
    { numRuns: 500 },
  );
});

test("what is owed is bounded too: beyond the limit the oldest of it goes", () => {
  const lane = new AudioLane(LIMITS, () => {});
  for (let n = 0; n < 100; n += 1) lane.insert(Buffer.alloc(40, n));
  expect(lane.waitingBytes).toBe(LIMITS.beforeOpenBytes);
  const sink = new SlowSink();
  lane.connect(sink);
  sink.readAll();
  expect(sink.read.map((samples) => samples[0])).toEqual(Array.from({ length: 10 }, (_, n) => 90 + n));
});

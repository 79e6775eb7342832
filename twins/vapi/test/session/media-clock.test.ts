import { once } from "node:events";
import { connect, createServer } from "node:net";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MediaClock, TICK_MS, TICK_SAMPLES } from "../../session/media-clock.ts";

/** Much longer than the half second after which a line without any audio is silent. */
const STALL_MS = 1_500;
/** Longest frame, and how late one may be. */
const MAX_FRAME_MS = 1_000;
const LATE_MS = 450;

describe("a caller who sends nothing", () => {
  let clock: MediaClock;
  let ticks: number[];
  let ticked: () => void = () => {};

  function start(): void {
    ticks = [];
    clock = new MediaClock({
      onTick(frame) {
        ticks.push(frame[0] ?? 0);
        ticked();
      },
      onFull() {},
      onRoom() {},
      onDrop() {},
      onFill() {},
      onSilence() {},
    });
    clock.start();
  }
  afterEach(() => clock.stop());

  test("is silence from half a second on, by the wall clock", async () => {
    start();
    const startedAt = performance.now();
    await new Promise<void>((resolve) => {
      ticked = resolve;
    });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(499);
    expect(ticks[0]).toBe(0);
  });

  test("is not silent while the process stalls", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const caller = connect(address.port, "127.0.0.1");
    const [line] = await once(server, "connection");
    start();
    line.on("data", () => clock.receive(new Int16Array(TICK_SAMPLES).fill(7)));
    // Nothing is read and no timer fires meanwhile, as when the machine is overloaded; the caller goes on a little later.
    setTimeout(() => caller.write("audio"), STALL_MS + 50);
    for (const until = performance.now() + STALL_MS; performance.now() < until; );
    await new Promise<void>((resolve) => {
      ticked = resolve;
    });
    expect(ticks).toEqual([7]);
    expect(clock.nowMs).toBe(TICK_MS);
    caller.destroy();
    server.close();
  });
});

describe("a caller whose audio comes in bursts", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Each lump as its length and how late it comes, beyond the time it took to record. */
  const lumps = fc.array(
    fc.record({
      ms: fc.integer({ min: 2, max: MAX_FRAME_MS / 10 }).map((tens) => tens * 10),
      lateMs: fc.integer({ min: 0, max: LATE_MS }),
    }),
    { minLength: 1, maxLength: 12 },
  );

  /** Says what the clock made of the lumps: the audio in order, 0 for assumed silence. */
  function hear(lengths: readonly { ms: number; lateMs: number }[], pauseMs: number) {
    const ticks: number[] = [];
    const silences: number[] = [];
    const clock = new MediaClock({
      onTick: (frame) => void ticks.push(frame[0] ?? 0),
      onFull() {},
      onRoom() {},
      onDrop() {},
      onFill() {},
      onSilence: (withoutAudioMs) => void silences.push(withoutAudioMs),
    });
    clock.start();
    const sent: number[] = [];
    for (const [at, { ms, lateMs }] of lengths.entries()) {
      if (at > 0) vi.advanceTimersByTime(ms + lateMs);
      const value = at + 1;
      clock.receive(new Int16Array((ms / TICK_MS) * TICK_SAMPLES).fill(value));
      sent.push(...new Array<number>(ms / TICK_MS).fill(value));
    }
    vi.advanceTimersByTime(pauseMs);
    clock.stop();
    return { ticks, sent, silences };
  }

  test("frames of up to a second, half a second late: no silence is inserted", () => {
    fc.assert(
      fc.property(lumps, (drawn) => {
        const { ticks, sent, silences } = hear(drawn, 0);
        expect(ticks).toEqual(sent);
        expect(silences).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  test("a longer pause is silence for its whole duration, and is reported once", () => {
    fc.assert(
      fc.property(lumps, fc.integer({ min: 1_600, max: 10_000 }), (drawn, pauseMs) => {
        const { ticks, sent, silences } = hear(drawn, pauseMs);
        const silence = ticks.slice(sent.length);
        expect(ticks.slice(0, sent.length)).toEqual(sent);
        expect(new Set(silence)).toEqual(new Set([0]));
        expect(silence.length * TICK_MS).toBeLessThanOrEqual(pauseMs - 1_500);
        expect(silence.length * TICK_MS).toBeGreaterThan(pauseMs - 1_500 - 60);
        expect(silences).toEqual([1_500]);
      }),
      { numRuns: 200 },
    );
  });
});

/** Frames against a wall clock that the test moves on, so that a machine that is held up changes nothing. */

import { FRAME_MS } from "@offhook/audio/pcm";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Pacer } from "../pacer.ts";

/** Time that went by while no timer could fire. */
let stoodStillMs: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"], now: 0 });
  stoodStillMs = 0;
  const { now } = performance;
  vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + stoodStillMs);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A pacer at work, and how many frames it has sent. */
function pacerAt(speed: number) {
  const sent = { frames: 0 };
  const sendFrame = () => {
    sent.frames += 1;
    return true;
  };
  const pacer = new Pacer({ speed, sendFrame, onTick: () => undefined });
  pacer.start();
  return { pacer, sent };
}

test.each([1, 20])("frames keep to the wall clock at %i times real time, without drift", (speed) => {
  const { pacer, sent } = pacerAt(speed);
  for (let second = 1; second <= 60; second++) {
    vi.advanceTimersByTime(1_000);
    // The first is due at once; several of a fast call go out in one tick.
    const due = (second * 1_000 * speed) / FRAME_MS + 1;
    expect(due - sent.frames).toBeGreaterThanOrEqual(0);
    expect(due - sent.frames).toBeLessThanOrEqual(2);
  }
  pacer.stop();
  expect(pacer.report()).toMatchObject({ frames: sent.frames, slippedMs: 0, lateFrames: 0 });
  expect(pacer.report().speed).toBeCloseTo(speed, 1);
});

test("late frames are sent at once, and counted as late", () => {
  const { pacer, sent } = pacerAt(1);
  stoodStillMs = 700;
  vi.advanceTimersByTime(FRAME_MS);
  expect(sent.frames).toBe(1 + 720 / FRAME_MS);
  pacer.stop();
  expect(pacer.report()).toMatchObject({ lateFrames: 34, latenessMaxMs: 700, slippedMs: 0 });
});

test("a backlog of more than a second of audio is skipped, and pacing restarts from now", () => {
  const { pacer, sent } = pacerAt(1);
  stoodStillMs = 5_000;
  vi.advanceTimersByTime(FRAME_MS);
  expect(sent.frames).toBe(2);
  vi.advanceTimersByTime(1_000);
  expect(sent.frames).toBe(2 + 1_000 / FRAME_MS);
  pacer.stop();
  expect(pacer.report()).toMatchObject({ slippedMs: 5_000, lateFrames: 0 });
});

test("a fast call that was held up goes on with the latest 200 ms, and becomes slower instead of catching up", () => {
  const { pacer, sent } = pacerAt(20);
  for (let stall = 1; stall <= 10; stall++) {
    const before = sent.frames;
    stoodStillMs += 50;
    vi.advanceTimersByTime(2);
    // A whole second of audio was due.
    expect(sent.frames - before).toBeLessThanOrEqual(200 / FRAME_MS + 1);
  }
  pacer.stop();
  const { frames, slippedMs, speed } = pacer.report();
  expect(frames * FRAME_MS + slippedMs).toBeCloseTo(10 * 52 * 20, -2);
  expect(speed).toBeLessThan(5);
});

/** Lateness of received speech, from arrival times that the test chooses. */
import { CALLER_RATE, msToSamples, silence } from "@offhook/audio/pcm";
import { expect, test } from "vitest";
import { PlaybackClock } from "../playback-clock.ts";

const speech = (ms: number) => new Int16Array(msToSamples(ms, CALLER_RATE)).fill(4_000);

test("speech in time is not late, in pieces of any length", () => {
  const clock = new PlaybackClock(1);
  expect(clock.push(speech(20), 1_000)).toBe(0);
  expect(clock.push(speech(30), 1_020)).toBe(0);
  expect(clock.push(speech(20), 1_050)).toBe(0);
});

test("a piece that comes behind real time is that much late, and so are those behind it until the callee has caught up", () => {
  const clock = new PlaybackClock(1);
  clock.push(speech(20), 1_000);
  expect(clock.push(speech(20), 1_110)).toBe(90);
  expect(clock.push(speech(20), 1_110)).toBe(70);
  expect(clock.push(speech(100), 1_110)).toBe(50);
  expect(clock.push(speech(20), 1_110)).toBe(0);
});

test("audio that came ahead of time covers a pause of the callee", () => {
  const clock = new PlaybackClock(1);
  clock.push(speech(500), 1_000);
  expect(clock.push(speech(20), 1_450)).toBe(0);
});

test("silence between turns, sent at once or not at all, makes nothing late", () => {
  const clock = new PlaybackClock(1);
  clock.push(speech(20), 1_000);
  clock.push(silence(1_700, CALLER_RATE), 1_020);
  expect(clock.push(speech(20), 1_500)).toBe(0);
  expect(clock.push(speech(20), 9_000)).toBe(0);
});

test("silence within speech counts, and silence outside of it is not judged", () => {
  const clock = new PlaybackClock(1);
  expect(clock.push(silence(20, CALLER_RATE), 1_000)).toBeUndefined();
  clock.push(speech(20), 1_020);
  expect(clock.push(silence(20, CALLER_RATE), 1_140)).toBe(100);
});

test("at speed 10 a tenth of the time is due", () => {
  const clock = new PlaybackClock(10);
  clock.push(speech(100), 1_000);
  expect(clock.push(speech(100), 1_015)).toBe(5);
});

/** The audio thread's part of a call, at the rates that browsers have. */
import { silence } from "@offhook/audio/signal";
import { chords } from "@offhook/audio/testing/sounds";
import { expect, test } from "vitest";
import { JitterBuffer } from "../page/talk/jitter-buffer.ts";
import { FRAME_SAMPLES, type Frame, Telephone } from "../page/talk/telephone.ts";

/** What an audio thread is given at a time. */
const QUANTUM = 128;
const CALL_RATE = 24_000;

function sine(hertz: number, rate: number, seconds: number): Float32Array {
  return Float32Array.from(
    { length: rate * seconds },
    (_, at) => 0.5 * Math.sin((2 * Math.PI * hertz * at) / rate),
  );
}

/** Runs the device over what the microphone hears. */
function run(telephone: Telephone, microphone: Float32Array): { frames: Frame[]; played: Float32Array } {
  const frames: Frame[] = [];
  const played = new Float32Array(microphone.length);
  for (let at = 0; at + QUANTUM <= microphone.length; at += QUANTUM) {
    const output = new Float32Array(QUANTUM);
    frames.push(...telephone.process(microphone.subarray(at, at + QUANTUM), output));
    played.set(output, at);
  }
  return { frames, played };
}

const saidOf = (frames: readonly Frame[]): number[] =>
  frames.flatMap(({ said }) => [...said].map((sample) => sample / 32_768));

/** Amplitude of a tone in a signal, and of everything else, in decibels of full scale. */
function analyse(signal: ArrayLike<number>, hertz: number, rate: number): { toneDb: number; restDb: number } {
  let [sine, cosine] = [0, 0];
  const angle = (2 * Math.PI * hertz) / rate;
  const samples = Array.from(signal);
  for (const [at, sample] of samples.entries()) {
    sine += sample * Math.sin(angle * at);
    cosine += sample * Math.cos(angle * at);
  }
  const [a, b] = [(2 * sine) / samples.length, (2 * cosine) / samples.length];
  const rest = samples.reduce(
    (energy, sample, at) => energy + (sample - a * Math.sin(angle * at) - b * Math.cos(angle * at)) ** 2,
    0,
  );
  return { toneDb: 20 * Math.log10(Math.hypot(a, b)), restDb: 10 * Math.log10(rest / samples.length) };
}

/** Whole periods from the middle of a second, where filters have settled. */
const middleOf = <Signal extends { slice(from: number, to: number): Signal }>(
  signal: Signal,
  rate: number,
): Signal => signal.slice(rate / 4, (rate * 3) / 4);

test.each([48_000, 44_100, 16_000])(
  "a device of %i Hz: the tone arrives whole, at the call's rate",
  (rate) => {
    const { frames } = run(new Telephone(rate), sine(1_000, rate, 1));
    const said = middleOf(saidOf(frames), CALL_RATE);
    const { toneDb, restDb } = analyse(said, 1_000, CALL_RATE);
    expect(toneDb).toBeCloseTo(-6.02, 1);
    expect(restDb).toBeLessThan(-65);
  },
);

test("what the call's rate cannot carry is filtered, not folded into the voice", () => {
  const { frames } = run(new Telephone(48_000), sine(15_000, 48_000, 1));
  const { restDb } = analyse(middleOf(saidOf(frames), CALL_RATE), 9_000, CALL_RATE);
  expect(restDb).toBeLessThan(-70);
});

test.each([48_000, 44_100])(
  "a device of %i Hz plays the call's audio at its pitch, without images",
  (rate) => {
    const telephone = new Telephone(rate);
    telephone.play(Int16Array.from(sine(1_000, CALL_RATE, 2), (sample) => Math.round(sample * 32_768)));
    const { played } = run(telephone, new Float32Array(rate));
    const { toneDb, restDb } = analyse(middleOf(played, rate), 1_000, rate);
    expect(toneDb).toBeCloseTo(-6.02, 1);
    expect(restDb).toBeLessThan(-65);
  },
);

test("frames are 20 ms long and come as fast as the device runs", () => {
  for (const rate of [24_000, 44_100, 48_000]) {
    const { frames } = run(new Telephone(rate), new Float32Array(rate * 2));
    expect(new Set(frames.map(({ said }) => said.length))).toEqual(new Set([FRAME_SAMPLES]));
    expect(frames.length).toBeGreaterThanOrEqual(98);
    expect(frames.length).toBeLessThanOrEqual(100);
  }
});

test("a sample is said instead of the microphone, sample by sample, and says when it ends", () => {
  const telephone = new Telephone(24_000);
  const sample = chords(300, -20, CALL_RATE).subarray(0, 7_000);
  telephone.say(sample);
  const { frames } = run(telephone, sine(1_000, 24_000, 1));
  const end = frames.findIndex(({ endsSample }) => endsSample);
  expect(end).toBe(Math.ceil(sample.length / FRAME_SAMPLES) - 1);
  const said = frames.slice(0, end + 1).flatMap((frame) => [...frame.said]);
  expect(said.slice(0, sample.length)).toEqual([...sample]);
  expect(said.slice(sample.length).every((each) => each === 0)).toBe(true);
  expect(frames[end + 1]?.saidPeak).toBeCloseTo(0.5, 2);
});

test("a muted microphone sends silence, in as many frames", () => {
  const telephone = new Telephone(48_000);
  telephone.setMicrophone("muted");
  const { frames } = run(telephone, sine(1_000, 48_000, 1));
  expect(frames.length).toBeGreaterThan(45);
  expect(frames.every(({ saidPeak }) => saidPeak === 0)).toBe(true);
});

const tone = (ms: number): Int16Array => chords(ms, -20, CALL_RATE).map((sample) => sample || 1);

/** Pulls until there is sound. @returns the silence before it, in milliseconds */
function waitForSound(buffer: JitterBuffer): number {
  const step = new Int16Array(24);
  for (let ms = 0; ms < 5_000; ms++) {
    buffer.pull(step);
    if (step.some((sample) => sample !== 0)) return ms;
  }
  throw new Error("no sound came");
}

test("the silence after a turn, sent at once, delays the next turn by a moment only", () => {
  const buffer = new JitterBuffer();
  buffer.push(tone(500));
  buffer.push(silence(1_700, CALL_RATE));
  waitForSound(buffer);
  buffer.pull(new Int16Array(24 * 550));
  buffer.push(tone(500));
  expect(waitForSound(buffer)).toBeLessThanOrEqual(100);
});

test("a pause within a burst is kept as it was", () => {
  const buffer = new JitterBuffer();
  for (const part of [tone(200), silence(300, CALL_RATE), tone(200)]) buffer.push(part);
  waitForSound(buffer);
  buffer.pull(new Int16Array(24 * 199));
  expect(waitForSound(buffer)).toBe(300);
});

test("after a late packet more audio waits before it is played, up to a fifth of a second", () => {
  const buffer = new JitterBuffer();
  buffer.push(tone(20));
  const delays = Array.from({ length: 12 }, () => {
    const delay = waitForSound(buffer);
    buffer.pull(new Int16Array(24 * 200));
    buffer.push(tone(20));
    return delay;
  });
  expect(delays[0]).toBeLessThanOrEqual(60);
  expect(delays.at(-1)).toBeGreaterThan(150);
  expect(Math.max(...delays)).toBeLessThanOrEqual(200);
});

test("however much an agent sends, half a minute of it waits at most", () => {
  const buffer = new JitterBuffer();
  for (let second = 0; second < 60; second++) buffer.push(tone(1_000));
  expect(buffer.queuedSamples).toBe(30 * CALL_RATE);
});

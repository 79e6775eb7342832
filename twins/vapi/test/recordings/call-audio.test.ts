/** Both sides of a call on its media time, whatever the rate and however the audio is cut. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { INTERNAL_RATE } from "../../providers/provider.ts";
import { CallAudio } from "../../recordings/call-audio.ts";
import { MediaClock } from "../../session/media-clock.ts";

/** Collects what a call's audio hands on. */
function collect(audio: CallAudio) {
  const blocks: Int16Array[] = [];
  let over = false;
  audio.add({
    take: (stereo) => void blocks.push(stereo.slice()),
    end: () => {
      over = true;
    },
  });
  const lane = (side: number) => blocks.flatMap((block) => [...block.filter((_, at) => at % 2 === side)]);
  return { caller: () => lane(0), assistant: () => lane(1), over: () => over };
}

const numbered = (from: number, length: number) =>
  Int16Array.from({ length }, (_, at) => ((from + at) % 30_000) + 1);

test("the caller's side is what was sent, with the clock's silence where it was, at any rate and in any pieces", () => {
  const piece = fc.record({ silent: fc.boolean(), ms: fc.integer({ min: 1, max: 300 }) });
  fc.assert(
    fc.property(
      fc.constantFrom(8_000, 11_025, 16_000, 22_050, 24_000, 44_100),
      fc.array(piece, { minLength: 1, maxLength: 20 }),
      (rate, pieces) => {
        const audio = new CallAudio(rate);
        const heard = collect(audio);
        const expected: number[] = [];
        let internal = 0;
        let ticks = 0;
        let silentMs = 0;
        let silentSamples = 0;
        for (const { silent, ms } of pieces) {
          const samples = silent
            ? new Int16Array(0)
            : numbered(expected.length, Math.round((ms * rate) / 1000));
          if (silent) {
            audio.fill((ms * INTERNAL_RATE) / 1000);
            silentMs += ms;
            const until = Math.round((silentMs * rate) / 1000);
            for (; silentSamples < until; silentSamples++) expected.push(0);
            internal += (ms * INTERNAL_RATE) / 1000;
          } else {
            audio.receive(samples);
            for (const sample of samples) expected.push(sample);
            internal += Math.floor((samples.length * INTERNAL_RATE) / rate);
          }
          for (; (ticks + 1) * 160 <= internal; ticks++) audio.tick();
        }
        audio.end();
        expect(heard.over()).toBe(true);
        const caller = heard.caller();
        const differs = expected.findIndex((sample, at) => sample !== caller[at]);
        expect({ length: caller.length, differs }).toEqual({ length: expected.length, differs: -1 });
        expect(heard.assistant().every((sample) => sample === 0)).toBe(true);
      },
    ),
    { numRuns: 30 },
  );
});

test("the assistant's side is where it was played, without a gap inside speech", () => {
  for (const rate of [8_000, 11_025, 24_000, 44_100]) {
    const audio = new CallAudio(rate);
    const heard = collect(audio);
    const sent: number[] = [];
    audio.receive(new Int16Array(rate));
    for (let tick = 1; tick <= 100; tick++) {
      const nowMs = tick * 10;
      // Speech from 200 ms to 700 ms, sent in bursts of 50 ms.
      if (nowMs > 200 && nowMs <= 700 && nowMs % 50 === 0) {
        const length = Math.round(((nowMs - 200) * rate) / 1000) - sent.length;
        const samples = numbered(sent.length, length);
        sent.push(...samples);
        audio.play(samples, nowMs);
      }
      audio.tick();
    }
    audio.end();
    const lane = heard.assistant();
    expect(lane.length).toBe(rate);
    const start = lane.findIndex((sample) => sample !== 0);
    expect(Math.abs(start - (200 * rate) / 1000)).toBeLessThanOrEqual(1);
    expect(lane.slice(start, start + sent.length)).toEqual(sent);
    expect(lane.slice(start + sent.length).every((sample) => sample === 0)).toBe(true);
  }
});

test("audio that the media clock drops is dropped here too, so that both stay in step", () => {
  const audio = new CallAudio(INTERNAL_RATE);
  const heard = collect(audio);
  const ticked: number[] = [];
  const clock = new MediaClock({
    onTick(frame) {
      for (const sample of frame) ticked.push(sample);
      audio.tick();
    },
    onFull() {},
    onRoom() {},
    onDrop: (samples) => audio.drop(samples),
    onFill: (samples) => audio.fill(samples),
    onSilence() {},
  });
  let held = true;
  clock.hold({ applies: () => held });
  const sent = numbered(0, 130 * INTERNAL_RATE);
  audio.receive(sent);
  clock.receive(sent);
  held = false;
  clock.resume();
  audio.end();
  clock.stop();
  expect(ticked.length).toBe(120 * INTERNAL_RATE);
  const lane = heard.caller();
  expect([lane.length, lane.findIndex((sample, at) => sample !== ticked[at])]).toEqual([ticked.length, -1]);
});

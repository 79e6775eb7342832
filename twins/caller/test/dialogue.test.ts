import { CALLER_RATE, msToSamples } from "@offhook/audio/pcm";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { SAMPLES_FOLDER } from "@offhook/audio/testing/samples";
import { describe, expect, test } from "vitest";
import { Dialogue } from "../dialogue.ts";

const utterance = readSampleLibrary(SAMPLES_FOLDER).get("wait-stop");
const samples = (ms: number) => msToSamples(ms, CALLER_RATE);

test("an interruption begins at the first frame after so much of the callee's turn was heard, whatever the caller's clock", () => {
  const step = { type: "say", utterance, afterMs: 200, interruptAfterMs: 1_000 } as const;
  const dialogue = new Dialogue({ waitForCalleeFirst: true, steps: [step] });
  const heard = (ms: number) => ({ startSamples: 0, endSamples: samples(ms), heardSamples: samples(ms) });
  expect(dialogue.decide(samples(5_000), heard(980))).toBeUndefined();
  expect(dialogue.decide(samples(5_020), heard(1_000))).toEqual({ type: "say", step, interrupting: true });
  expect(dialogue.missedInterruptions).toEqual([]);
});

test("a callee that finished before it could be interrupted is answered as usual, and the interruption is missed", () => {
  const step = { type: "say", utterance, afterMs: 200, interruptAfterMs: 1_000 } as const;
  const dialogue = new Dialogue({ waitForCalleeFirst: true, steps: [step] });
  dialogue.noteCalleeTurn({ startSamples: 0, endSamples: samples(700), heardSamples: samples(700) });
  expect(dialogue.decide(samples(3_000), undefined)).toBeUndefined();
  expect(dialogue.decide(samples(3_200), undefined)).toEqual({ type: "say", step, interrupting: false });
  expect(dialogue.missedInterruptions).toEqual([utterance.text]);
});

describe("a turn that the caller talked over, and that ends after the caller's utterance", () => {
  const interruption = { type: "say", utterance, afterMs: 200, interruptAfterMs: 1_000 } as const;
  const next = { type: "say", utterance, afterMs: 200 } as const;
  const talkedOver = { startSamples: 0, endSamples: samples(3_400), heardSamples: samples(1_900) };

  function interrupted(): Dialogue {
    const dialogue = new Dialogue({ waitForCalleeFirst: true, steps: [interruption, next] });
    const open = { startSamples: 0, endSamples: samples(1_000), heardSamples: samples(1_000) };
    expect(dialogue.decide(samples(1_000), open)).toMatchObject({ interrupting: true });
    dialogue.noteSpeechEnd(samples(3_000));
    dialogue.noteCalleeTurn(talkedOver);
    return dialogue;
  }

  test("is no reply: the caller waits for the one that follows", () => {
    const dialogue = interrupted();
    expect(dialogue.decide(samples(5_000), undefined)).toBeUndefined();
    expect(dialogue.decide(samples(7_900), undefined)).toBeUndefined();
    expect(dialogue.decide(samples(8_000), { ...talkedOver, startSamples: samples(8_000) })).toBeUndefined();
    dialogue.noteCalleeTurn({ ...talkedOver, startSamples: samples(8_000), endSamples: samples(9_000) });
    expect(dialogue.decide(samples(10_500), undefined)).toBeUndefined();
    expect(dialogue.decide(samples(10_700), undefined)).toEqual({
      type: "say",
      step: next,
      interrupting: false,
    });
  });

  test("ends the wait when nothing follows within three seconds, as after a word that the callee need not answer", () => {
    const dialogue = interrupted();
    expect(dialogue.decide(samples(5_000), undefined)).toBeUndefined();
    expect(dialogue.decide(samples(8_180), undefined)).toBeUndefined();
    expect(dialogue.decide(samples(8_200), undefined)).toEqual({
      type: "say",
      step: next,
      interrupting: false,
    });
  });
});

import { expect, test } from "vitest";
import { TICK_SAMPLES } from "../../../../twins/voice-runtime/session/media-clock.ts";
import { Utterance } from "../../../../twins/voice-runtime/session/utterance.ts";
import { expectLinearTime, LONG } from "../../../support/linear-time.ts";

test("what was heard ends with a whole word, however long the words are", () => {
  const utterance = new Utterance();
  const word = "a".repeat(LONG - 1);
  utterance.add(`${word} ${"b".repeat(LONG)}`)(new Int16Array(2 * TICK_SAMPLES));
  utterance.play();
  expectLinearTime(() => expect(utterance.heard()).toBe(word));
});

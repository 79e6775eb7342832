import { expectLinearTime, LONG } from "@offhook/platform/testing/linear-time";
import { expect, test } from "vitest";
import { TICK_SAMPLES } from "../../session/media-clock.ts";
import { Utterance } from "../../session/utterance.ts";

test("what was heard ends with a whole word, however long the words are", () => {
  const utterance = new Utterance();
  const word = "a".repeat(LONG - 1);
  utterance.add(`${word} ${"b".repeat(LONG)}`)(new Int16Array(2 * TICK_SAMPLES));
  utterance.play();
  expectLinearTime(() => expect(utterance.heard()).toBe(word));
});

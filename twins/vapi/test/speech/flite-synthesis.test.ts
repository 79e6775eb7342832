import { setMaxListeners } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { levelDb } from "@offhook/audio/pcm";
import { processorMsSince } from "@offhook/platform/testing/processor-time";
import { afterAll, describe, expect, test } from "vitest";
import { createFliteSynthesis, MAX_TEXT_LENGTH } from "../../providers/flite-synthesis.ts";
import { INTERNAL_RATE } from "../../providers/provider.ts";

const synthesis = createFliteSynthesis({ cacheBytes: 1024 * 1024 });
const never = new AbortController().signal;
setMaxListeners(0, never);
/** Linux shows a process what it has open. */
const DESCRIPTORS = "/proc/self/fd";
const SLT = { provider: "flite", voiceId: "slt" };

afterAll(() => synthesis.close());

describe("Flite synthesis", () => {
  test("speaks a sentence at 16 kHz, at the tempo of speech", async () => {
    const speech = await synthesis.speak(
      "There are two incidents open for the checkout service.",
      SLT,
      never,
    );
    expect(speech.length / INTERNAL_RATE).toBeGreaterThan(2);
    expect(speech.length / INTERNAL_RATE).toBeLessThan(5);
    expect(levelDb(speech)).toBeGreaterThan(-35);
  });

  test("maps a vendor's voice always to the same voice, and different ids to different ones", async () => {
    const say = (voiceId: string) => synthesis.speak("Good morning.", { provider: "vapi", voiceId }, never);
    const spoken = await Promise.all(
      ["Elliot", "Rohan", "Hana", "Neha", "Cole", "Paige", "Spencer"].map(say),
    );
    expect(
      new Set(spoken.map((speech) => Buffer.from(speech.buffer).toString("base64"))).size,
    ).toBeGreaterThan(1);
    const another = createFliteSynthesis();
    expect(await another.speak("Good morning.", { provider: "vapi", voiceId: "Elliot" }, never)).toEqual(
      spoken[0],
    );
    await another.close();
  });

  test("caches sentences, synthesises concurrent requests once, and evicts the oldest", async () => {
    const many = await Promise.all([1, 2, 3].map(() => synthesis.speak("Which service is it?", SLT, never)));
    expect(new Set(many).size).toBe(1);
    expect(await synthesis.speak("Which service is it?", SLT, never)).toBe(many[0]);
    const long =
      "This is a long sentence that fills the memory for sentences spoken before, as it takes several seconds.";
    for (let at = 0; at < 8; at++) await synthesis.speak(`${long} Number ${at}.`, SLT, never);
    const again = await synthesis.speak("Which service is it?", SLT, never);
    expect(again).not.toBe(many[0]);
    expect(again).toEqual(many[0]);
  });

  test("an abort ends only the aborting request", async () => {
    const abort = new AbortController();
    const impatient = synthesis.speak("Somebody hangs up while this is spoken.", SLT, abort.signal);
    const patient = synthesis.speak("Somebody hangs up while this is spoken.", SLT, never);
    abort.abort(new Error("hung up"));
    await expect(impatient).rejects.toThrow("hung up");
    expect((await patient).length).toBeGreaterThan(INTERNAL_RATE);
  });

  test("shares threads and cache between equal configurations, until the last one closes", async () => {
    const [one, other] = [createFliteSynthesis({ threads: 1 }), createFliteSynthesis({ threads: 1 })];
    const spoken = await one.speak("We share this.", SLT, never);
    await one.close();
    await one.close();
    expect(await other.speak("We share this.", SLT, never)).toBe(spoken);
    expect(await other.speak("And this is new.", SLT, never)).not.toHaveLength(0);
    await other.close();
    await expect(other.speak("Too late.", SLT, never)).rejects.toThrow("shut down");
    const next = createFliteSynthesis({ threads: 1 });
    expect(await next.speak("We share this.", SLT, never)).toEqual(spoken);
    await next.close();
  });

  test("returns no samples for text without words, and refuses text that is too long", async () => {
    for (const text of ["", "  ", "…", "?!"]) expect(await synthesis.speak(text, SLT, never)).toHaveLength(0);
    await expect(synthesis.speak("no ".repeat(MAX_TEXT_LENGTH), SLT, never)).rejects.toThrow(
      "too long to speak",
    );
  });

  test("speaks any text: marks, accents, other scripts, options of a command line", async () => {
    const plain = await synthesis.speak("It's a naive cafe.", SLT, never);
    expect(await synthesis.speak("It’s a naïve café.", SLT, never)).toBe(plain);
    for (const text of [
      "-voice kal",
      "a\0b\nc\td",
      "停 stop",
      "<speak>hi</speak>",
      "INC-1041 costs $5 & 50%",
    ]) {
      expect((await synthesis.speak(text, SLT, never)).length, text).toBeGreaterThan(0);
    }
  });

  test("is faster than speech, and leaves the event loop free", async () => {
    const sentences = Array.from(
      { length: 20 },
      (_, at) => `Call number ${at} hears this sentence, and waits no longer.`,
    );
    const [busy, before] = [performance.eventLoopUtilization(), process.cpuUsage()];
    const spoken = await Promise.all(sentences.map((text) => synthesis.speak(text, SLT, never)));
    const { utilization } = performance.eventLoopUtilization(busy);
    const tookMs = processorMsSince(before);
    const seconds = spoken.reduce((sum, { length }) => sum + length, 0) / INTERNAL_RATE;
    console.log(
      `spoke ${seconds.toFixed(1)} s in ${tookMs.toFixed(0)} ms of the processor, the event loop busy for ${(100 * utilization).toFixed(1)} %`,
    );
    expect(tookMs).toBeLessThan(seconds * 1000);
    expect(utilization).toBeLessThan(0.5);
  });
});

test("many sentences in several threads neither end the process nor leave a descriptor open", async () => {
  const own = createFliteSynthesis({ threads: 2, cacheBytes: 3 });
  const speak = (from: number) =>
    Promise.all(Array.from({ length: 50 }, (_, at) => own.speak(`Number ${from + at}.`, SLT, never)));
  await speak(0);
  const open = existsSync(DESCRIPTORS) ? readdirSync(DESCRIPTORS).length : 0;
  const spoken = await speak(50);
  expect(spoken.every(({ length }) => length > 0)).toBe(true);
  // Other threads of this process may open and close a few.
  if (existsSync(DESCRIPTORS)) expect(readdirSync(DESCRIPTORS).length).toBeLessThan(open + 10);
  await own.close();
});

test("a thread stopped in the middle of a sentence fails it", async () => {
  const own = createFliteSynthesis({ threads: 1, cacheBytes: 3 });
  await own.speak("The thread is there now.", SLT, never);
  const spoken = own.speak("A very long sentence goes on and on. ".repeat(50), SLT, never);
  await Promise.all([own.close(), expect(spoken).rejects.toThrow("thread ended")]);
});

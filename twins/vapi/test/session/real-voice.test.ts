/** Live calls with the real ears and the real voice: WebRTC's detector, the sample recogniser, Flite. */

import { applyGain, mix } from "@offhook/audio/pcm";
import { resample } from "@offhook/audio/resample";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { SAMPLES_FOLDER } from "@offhook/audio/testing/samples";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { createFliteSynthesis } from "../../providers/flite-synthesis.ts";
import { createSampleRecognition } from "../../providers/sample-recognition.ts";
import type { AudioFormat } from "../../schema/call.ts";
import { createSession } from "../../session/call-session.ts";
import { ASSISTANT, type CallOptions, echo, hangUpAll, type LiveCall, startCall } from "./live-call.ts";

const samplesFolder = SAMPLES_FOLDER;
const samples = readSampleLibrary(samplesFolder);
const recognition = createSampleRecognition({ samplesFolder });
const synthesis = createFliteSynthesis({ threads: 1 });
const CALLER: AudioFormat = { format: "pcm_s16le", sampleRate: 24_000 };

afterEach(hangUpAll);
afterAll(async () => {
  await recognition.close();
  await synthesis.close();
});

function call(options: CallOptions = {}): Promise<LiveCall> {
  const voice = { provider: "vapi", voiceId: "Elliot" };
  return startCall({
    format: CALLER,
    speed: 5,
    createSession,
    ...options,
    assistant: { voice, ...options.assistant },
    parts: { recognition, synthesis },
  });
}

const finals = (live: LiveCall) => live.story.filter((line) => line.startsWith("transcript user final: "));
const heard = (name: string) => `transcript user final: ${samples.get(name).text}`;

describe("what callers say", () => {
  const speech = samples.all().filter(({ kind }) => kind === "speech");

  test("every sample is heard whole, as one turn", async () => {
    const live = await call({ speed: 20, assistant: { maxDurationSeconds: 3_600 } });
    for (const [index, { pcm }] of speech.entries()) {
      await live.say(pcm);
      await live.until(() => (finals(live).length > index ? true : undefined));
      await live.say(live.pause(700));
    }
    expect(finals(live)).toEqual(speech.map(({ name }) => heard(name)));
    expect(
      new Set(
        live.messages.flatMap(({ role, turn }) => (role === "user" && turn !== undefined ? [turn] : [])),
      ).size,
    ).toBe(speech.length);
  });

  test.each([
    { format: "mulaw", sampleRate: 8_000 },
    { format: "pcm_s16le", sampleRate: 16_000 },
    { format: "pcm_s16le", sampleRate: 48_000 },
  ] as const)("and heard in $format at $sampleRate", async (format) => {
    const live = await call({ format, brain: echo });
    await live.say(resample(samples.get("open-incident").pcm, 24_000, format.sampleRate));
    await live.brief(heard("open-incident"));
  });

  test("quiet speech in noise is heard, and the noise around it is not taken for speech", async () => {
    const live = await call();
    const { pcm } = samples.get("ask-status");
    const noise = applyGain(samples.get("noise").pcm, -26);
    await live.say(mix(applyGain(pcm, -10), noise.subarray(0, pcm.length)));
    await live.brief(heard("ask-status"));
  });

  test.each(["noise", "tones", "wrong-rate"])("%s is answered by nobody, and is no error", async (name) => {
    const live = await call({ brain: echo });
    await live.say(samples.get(name).pcm, live.pause(2_500));
    expect(live.story.filter((line) => line.includes("final"))).toEqual([]);
    expect(live.records.map(({ role }) => role)).toEqual(name === "noise" ? [] : ["unrecognised"]);
    await live.say(samples.get("yes-please").pcm);
    await live.brief(heard("yes-please"));
  });
});

test("the assistant is interrupted by a real voice, and answers what was said", async () => {
  const replies = [
    "The checkout service has been failing since this morning, and I can tell you a lot about it.",
  ];
  const live = await call({
    *brain(request) {
      const reply = replies.shift();
      if (reply === undefined) yield* echo(request);
      else yield { type: "say", text: reply };
    },
  });
  await live.say(samples.get("checkout-failing").pcm);
  await live.until(() => (live.heardMs > 1_500 ? true : undefined));
  await live.say(samples.get("wait-stop").pcm);
  await live.message(({ type }) => type === "user-interrupted");
  await live.brief("transcript assistant final: You said: Wait, stop. Which service did you say?");
  expect(finals(live)).toEqual([heard("checkout-failing"), heard("wait-stop")]);
  const [cut] = live.records.flatMap((record) => (record.role === "assistant" ? [record.text] : []));
  expect(cut).toMatch(/^The checkout service/);
  expect(cut).not.toMatch(/about it/);
});

test("with the plan of a patient agent, two words are needed to interrupt", async () => {
  const stopSpeakingPlan = { ...ASSISTANT.stopSpeakingPlan, numWords: 2 };
  const live = await call({
    assistant: { stopSpeakingPlan },
    *brain() {
      yield {
        type: "say",
        text: "One moment please, I am looking at everything we know about that incident.",
      };
    },
  });
  await live.say(samples.get("ask-status").pcm);
  await live.until(() => (live.heardMs > 800 ? true : undefined));
  await live.say(samples.get("wait-stop").pcm);
  await live.message(({ type }) => type === "user-interrupted");
});

/**
 * The line of a live call: formats, pacing, bounds, and that nothing is left when it is over.
 * Proves a part of twins/SECURITY.md.
 */
import { once } from "node:events";
import { setImmediate as immediate, setTimeout as pause } from "node:timers/promises";
import { samplesToBytes } from "@offhook/audio/pcm";
import { captureLog } from "@offhook/platform/testing/log-lines";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import type { BrainStep } from "../../providers/provider.ts";
import { UplinkDecoder } from "../../session/codec.ts";
import {
  CHARACTER_MS,
  frequencyOf,
  tone,
  toneRecognition,
  toneSynthesis,
  VOICE_HZ,
} from "../../testing/tone-speech.ts";
import { type CallOptions, echo, hangUpAll, type LiveCall, placeCall, startCall } from "./live-call.ts";

afterEach(hangUpAll);

const GREETS = {
  firstMessage: "Hello, incident hotline.",
  firstMessageMode: "assistant-speaks-first",
} as const;

describe("the negotiated format", () => {
  test.each([
    { format: "mulaw", sampleRate: 8_000 },
    { format: "pcm_s16le", sampleRate: 8_000 },
    { format: "pcm_s16le", sampleRate: 24_000 },
    { format: "pcm_s16le", sampleRate: 44_100 },
    { format: "pcm_s16le", sampleRate: 48_000 },
    { format: "pcm_s16le", sampleRate: 192_000 },
  ] as const)("$format at $sampleRate: heard and answered", async (format) => {
    const call = await startCall({ format, brain: echo, speed: 10 });
    await call.say(call.tone(500, 800));
    await call.brief("speech-update assistant stopped 0");
    expect(call.story).toContain("transcript user final: What is the status?");
    expect(call.heardMs).toBeCloseTo("You said: What is the status?".length * CHARACTER_MS, 0);
    if (format.format === "pcm_s16le")
      expect(frequencyOf(call.heard, format.sampleRate)).toBeCloseTo(VOICE_HZ, -1);
  });

  test("however the bytes are cut, the same samples arrive", () => {
    const bytes = samplesToBytes(tone(500, 300, 24_000));
    const whole = new UplinkDecoder({ format: "pcm_s16le", sampleRate: 24_000 }).decode(bytes);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1_001 }), { maxLength: 40 }), (sizes) => {
        const decoder = new UplinkDecoder({ format: "pcm_s16le", sampleRate: 24_000 });
        const heard: number[] = [];
        let at = 0;
        for (const size of [...sizes, bytes.length]) {
          heard.push(...decoder.decode(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(Int16Array.from(heard)).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });

  test("a caller whose chunks have odd sizes is recognised", async () => {
    const call = await placeCall({ brain: echo });
    const audio = samplesToBytes(
      Int16Array.from([...call.pause(400), ...call.tone(500, 800), ...call.pause(3_000)]),
    );
    for (let at = 0; at < audio.length; at += 333) call.client.send(audio.subarray(at, at + 333));
    await call.brief("transcript user final: What is the status?");
  });

  test("with oddFrames some frames end within a sample, and the audio is still complete", async () => {
    const call = await startCall({ assistant: GREETS, oddFrames: true });
    await call.brief("speech-update assistant stopped 0");
    const lengths = frameLengths(call);
    expect(lengths.some((length) => length % 2 === 1)).toBe(true);
    expect(call.heardMs).toBe("Hello, incident hotline.".length * CHARACTER_MS);
    expect(frequencyOf(call.heard)).toBeCloseTo(VOICE_HZ, -1);
  });

  test("frames vary in size and come in bursts; by default none is odd", async () => {
    const call = await startCall({ assistant: GREETS });
    await call.brief("speech-update assistant stopped 0");
    const lengths = frameLengths(call);
    expect(new Set(lengths).size).toBeGreaterThan(2);
    expect(lengths.every((length) => length % 2 === 0)).toBe(true);
  });
});

describe("the media clock", () => {
  /** A call whose caller's audio is decided beforehand, to the sample. */
  async function rehearsed(options: CallOptions, stepMs: number): Promise<LiveCall> {
    const call = await placeCall({ ...options, assistant: { ...GREETS, maxDurationSeconds: 13 } });
    const script = [
      call.pause(1_900),
      call.tone(500, 900),
      call.pause(1_000),
      call.tone(1000, 1_200),
      call.pause(2_600),
      call.tone(700, 500),
      call.pause(900),
      call.tone(600, 700),
    ];
    void call.say(...script);
    await call.streamInSteps(stepMs);
    return call;
  }

  /** The tone language's providers, which answer later than at once, as real ones do. */
  const unhurried = {
    recognition: {
      transcribe: (...asked: Parameters<typeof toneRecognition.transcribe>) =>
        immediate().then(() => toneRecognition.transcribe(...asked)),
      partial: (...asked: Parameters<typeof toneRecognition.partial>) =>
        immediate().then(() => toneRecognition.partial(...asked)),
    },
    synthesis: {
      speak: (...asked: Parameters<typeof toneSynthesis.speak>) =>
        immediate().then(() => toneSynthesis.speak(...asked)),
    },
  };

  test("a call at twenty times the speed is the same call: the same messages and audio, byte for byte", async () => {
    const talk = {
      brain: echo,
      parts: unhurried,
      format: { format: "pcm_s16le", sampleRate: 24_000 },
    } as const;
    const [slow, fast, again] = await Promise.all([
      rehearsed(talk, 20),
      rehearsed(talk, 400),
      rehearsed(talk, 140),
    ]);
    const course = (call: LiveCall) =>
      call.arrivals.flatMap((arrival) => {
        if (arrival.type === "audio") return [];
        const { turnId: _, ...message } = arrival.message;
        return [{ ...message, heardMs: arrival.heardMs }];
      });
    expect(course(fast)).toEqual(course(slow));
    expect(course(again)).toEqual(course(slow));
    expect(Buffer.from(samplesToBytes(fast.heard)).equals(samplesToBytes(slow.heard))).toBe(true);
    expect(fast.records).toEqual(slow.records);
    expect(slow.story).toContain("user-interrupted");
  });

  test("frames of a second each are one turn, heard whole", async () => {
    const logged = captureLog();
    const call = await placeCall({ brain: echo, log: logged.log });
    const audio = [...call.pause(400), ...call.tone(700, 900), ...call.pause(300), ...call.tone(500, 900)];
    const speech = samplesToBytes(Int16Array.from([...audio, ...call.pause(1_500)]));
    const secondBytes = samplesToBytes(call.pause(1_000)).length;
    // A microphone that sends a second at a time.
    for (let at = 0; at < speech.length; at += secondBytes) {
      if (at > 0) await pause(1_000);
      call.client.send(speech.subarray(at, at + secondBytes));
    }
    await call.brief("transcript user final: and then What is the status?");
    await call.brief("speech-update user stopped 0");
    expect(call.story.filter((line) => line.startsWith("speech-update user"))).toEqual([
      "speech-update user started 0",
      "speech-update user stopped 0",
    ]);
    expect(logged.text()).not.toContain("silence is assumed");
  });

  test("a client that stops sending is silent: its turn ends, and the log says once that silence is assumed", async () => {
    const logged = captureLog();
    const call = await placeCall({ brain: echo, log: logged.log });
    call.client.send(samplesToBytes(call.tone(500, 800)));
    await call.brief("transcript assistant final: You said: What is the status?");
    call.client.send(samplesToBytes(call.tone(400, 800)));
    await call.brief("transcript assistant final: You said: Hello there.");
    expect(logged.lines.filter(({ msg }) => msg.includes("silence is assumed"))).toMatchObject([
      { withoutAudioMs: 1_500 },
    ]);
  });

  test("the assistant's speech is paced: a second of it takes a second of the caller's audio", async () => {
    const call = await placeCall();
    call.command({ type: "say", content: "x".repeat(3_000 / CHARACTER_MS) });
    call.client.send(samplesToBytes(call.pause(1_140)));
    // In progress after 140 ms, the first sound 10 ms later, bursts of 50 ms: so much and no more.
    expect(await call.until(() => (call.heardMs >= 900 ? call.heardMs : undefined))).toBeLessThanOrEqual(
      1_000,
    );
    call.client.send(samplesToBytes(call.pause(2_100)));
    await call.brief("speech-update assistant stopped 0");
    expect(call.heardMs).toBe(3_000);
  });

  test("a slow provider delays the call and does not stop it", async () => {
    let answer: () => void = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const call = await startCall({
      async *brain(): AsyncIterable<BrainStep> {
        await answered;
        yield { type: "say", text: "At last." };
      },
    });
    await call.say(call.tone(500, 600));
    await call.brief("transcript user final: What is the status?");
    await call.say(call.pause(5_000));
    expect(call.story).toContain("speech-update user stopped 0");
    answer();
    await call.brief("transcript assistant final: At last.");
  });
});

describe("providers that fail", () => {
  test("the assistant apologises once for a failing model, and the call continues", async () => {
    const logged = captureLog();
    let asked = 0;
    const call = await startCall({
      log: logged.log,
      brain: (request) => {
        asked += 1;
        if (asked < 3) throw new Error("no model today");
        return echo(request);
      },
    });
    await call.say(call.tone(500, 600));
    await call.brief("transcript assistant final: Sorry, something went wrong on my side.");
    await call.say(call.tone(500, 600), call.pause(1_500), call.tone(400, 600));
    await call.brief("transcript assistant final: You said: Hello there.");
    expect(call.story.filter((line) => line.includes("final: Sorry"))).toHaveLength(1);
    expect(logged.lines.filter(({ msg }) => msg.includes("reply failed"))).toHaveLength(2);
  });

  test("a sentence that cannot be synthesised is left out, also of the conversation", async () => {
    const call = await startCall({
      *brain() {
        yield { type: "say", text: "Unspeakable." };
        yield { type: "say", text: "Said." };
      },
      parts: {
        synthesis: {
          async speak(text) {
            if (text === "Unspeakable.") throw new Error("no voice today");
            return new Int16Array(8_000);
          },
        },
      },
    });
    await call.say(call.tone(500, 600));
    await call.brief("transcript assistant final: Said.");
  });

  test("words that cannot be synthesised are a turn without sound: it starts and stops, and no transcript has them", async () => {
    let failing = true;
    const call = await startCall({
      assistant: GREETS,
      brain: echo,
      parts: {
        synthesis: {
          async speak(...asked) {
            if (failing) throw new Error("no voice today");
            return toneSynthesis.speak(...asked);
          },
        },
      },
    });
    await call.brief("speech-update assistant stopped 0");
    await call.say(call.tone(500, 600));
    await call.brief("speech-update assistant stopped 1");
    expect(call.heardMs).toBe(0);
    failing = false;
    await call.say(call.tone(400, 600));
    await call.brief("transcript assistant final: You said: Hello there.");
    call.command({ type: "end-call" });
    const { turnLatencies } = await call.ended;
    expect(turnLatencies).toHaveLength(1);
    expect(call.story.filter((line) => line.startsWith("speech-update assistant"))).toEqual(
      [0, 1, 2].flatMap((turn) => [
        `speech-update assistant started ${turn}`,
        `speech-update assistant stopped ${turn}`,
      ]),
    );
    expect(call.records.filter(({ role }) => role === "assistant")).toHaveLength(1);
    expect(call.messages.findLast(({ type }) => type === "conversation-update")?.conversation).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "What is the status?" },
      { role: "user", content: "Hello there." },
      { role: "assistant", content: "You said: Hello there." },
    ]);
  });

  test("a last sentence that cannot be synthesised ends the turn after the audible ones", async () => {
    let fail: (error: Error) => void = () => {};
    const call = await startCall({
      *brain() {
        yield { type: "say", text: "Said." };
        yield { type: "say", text: "Unspeakable." };
      },
      parts: {
        synthesis: {
          speak: (text, ...asked) =>
            text === "Said."
              ? toneSynthesis.speak(text, ...asked)
              : new Promise((_, reject) => {
                  fail = reject;
                }),
        },
      },
    });
    await call.say(call.tone(500, 600));
    await call.until(() => (call.heardMs >= "Said.".length * CHARACTER_MS - 50 ? true : undefined));
    fail(new Error("no voice today"));
    await call.brief("speech-update assistant stopped 0");
    await call.brief("transcript assistant final: Said.");
  });

  test.each(["recognition", "synthesis"] as const)(
    "%s is waited for as long as it says",
    async (provider) => {
      const never = () => new Promise<never>(() => undefined);
      const logged = captureLog();
      const hung = {
        recognition: { recognition: { timeoutMs: 20, transcribe: never, partial: never } },
        synthesis: { synthesis: { timeoutMs: 20, speak: never } },
      };
      const call = await startCall({ brain: echo, log: logged.log, parts: hung[provider] });
      await call.say(call.tone(500, 600));
      await call.until(() => (logged.text().includes("no answer within 20 ms") ? true : undefined));
    },
  );

  test("a failing recogniser gives no transcript; the next turn is transcribed", async () => {
    let heard = 0;
    const logged = captureLog();
    const call = await startCall({
      brain: echo,
      log: logged.log,
      parts: {
        recognition: {
          async transcribe() {
            heard += 1;
            if (heard === 1) throw new Error("no ears today");
            return { text: "Hello." };
          },
          partial: () => Promise.reject(new Error("none at all")),
        },
      },
    });
    await call.say(call.tone(500, 600), call.pause(3_000), call.tone(500, 600));
    await call.brief("transcript assistant final: You said: Hello.");
    expect(logged.text()).toContain("no ears today");
    expect(call.records.map(({ role }) => role)).toEqual(["unrecognised", "user", "assistant"]);
  });

  test("a model that says nothing leaves the assistant silent, and the call live", async () => {
    let asked = 0;
    const logged = captureLog();
    const call = await startCall({
      log: logged.log,
      brain: (request) => (asked++ === 0 ? [] : echo(request)),
    });
    await call.say(call.tone(500, 600), call.pause(2_000), call.tone(400, 600));
    await call.brief("transcript assistant final: You said: Hello there.");
    expect(call.story.filter((line) => line.startsWith("speech-update assistant"))).toHaveLength(2);
    expect(logged.lines.filter(({ level }) => level >= 40)).toMatchObject([
      { turn: 0, msg: expect.stringContaining("without a word") },
    ]);
  });

  test("a slow model gives hang after five seconds", async () => {
    let startedAt = Number.NaN;
    const call = await startCall({
      // biome-ignore lint/correctness/useYield: a model that never answers says nothing.
      async *brain(_, signal): AsyncIterable<BrainStep> {
        startedAt = performance.now();
        await once(signal, "abort");
      },
      speed: 2,
    });
    await call.say(call.tone(500, 600));
    await call.message(({ type }) => type === "hang");
    expect(performance.now() - startedAt).toBeGreaterThan(4_500);
  });
});

describe("bounds", () => {
  test("half a minute of audio at once is processed, and answered at its position", async () => {
    const call = await placeCall({ brain: echo });
    call.client.send(samplesToBytes(call.pause(27_000)));
    call.client.send(samplesToBytes(call.tone(500, 800)));
    call.client.send(samplesToBytes(call.pause(10_000)));
    await call.brief("transcript assistant final: You said: What is the status?");
  });

  test("a client that floods is paused, and loses nothing", async () => {
    const logged = captureLog();
    const paused: boolean[] = [];
    const call = await placeCall({
      assistant: { maxDurationSeconds: 299 },
      log: logged.log,
      parts: {
        recognition: {
          async transcribe() {
            await immediate();
            paused.push(call.serverSocket.isPaused);
            return { text: "Hello." };
          },
          partial: async () => ({ text: null }),
        },
      },
    });
    for (let part = 0; part < 60; part++) {
      call.client.send(samplesToBytes(call.tone(500, 800)));
      call.client.send(samplesToBytes(call.pause(4_200)));
    }
    // All but the last second of what was sent; what is lost would be missing from it.
    expect(await call.ended).toMatchObject({ endedReason: "exceeded-max-duration", durationMs: 299_000 });
    expect(paused).toContain(true);
    expect(logged.lines.filter(({ msg }) => !msg.includes("without a word"))).toEqual([]);
  });

  test("a client that floods is served although a provider never answers", async () => {
    const call = await placeCall({
      assistant: { maxDurationSeconds: 250 },
      parts: {
        recognition: { transcribe: () => new Promise(() => {}), partial: async () => ({ text: null }) },
      },
    });
    for (let part = 0; part < 60; part++) {
      call.client.send(samplesToBytes(call.tone(500, 800)));
      call.client.send(samplesToBytes(call.pause(4_200)));
    }
    expect((await call.ended).endedReason).toBe("exceeded-max-duration");
  });

  test("more audio at once than can wait is dropped, oldest first, with one line in the log", async () => {
    const logged = captureLog();
    const call = await placeCall({ log: logged.log, createDetector: () => new Promise(() => {}) });
    call.client.send(samplesToBytes(call.pause(200_000)));
    await logged.line(({ msg }) => msg.includes("oldest is dropped"), "dropped audio");
  });

  test("a client that never reads gets no more audio and is cut off in the end", async () => {
    const logged = captureLog();
    const format = { format: "pcm_s16le", sampleRate: 192_000 } as const;
    const call = await placeCall({ format, log: logged.log, speed: 1 });
    call.client.pause();
    call.command({ type: "say", content: "x".repeat(4_000) });
    const second = samplesToBytes(call.pause(1_000));
    for (let at = 0; at < 120; at++) call.client.send(second);
    await logged.line(({ msg }) => msg.includes("does not read its audio"), "dropped audio");
    call.startStreaming();
    await call.serverSocketClosed;
    expect(logged.text()).toContain("cutting it off");
    expect(call.statuses).toEqual(["in-progress"]);
  });
});

test("after the end no timer, detector or listener is left", async () => {
  const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  let closed = 0;
  const detectors: { close(): void }[] = [];
  const call = await startCall({
    assistant: GREETS,
    brain: echo,
    onDetector: (detector) => {
      const close = detector.close.bind(detector);
      detector.close = () => {
        closed += 1;
        close();
      };
      detectors.push(detector);
    },
  });
  await call.say(call.tone(500, 800));
  await call.brief("speech-update assistant started 1");
  call.session.end("manually-canceled");
  await call.closed();
  await call.serverSocketClosed;
  expect(closed).toBe(1);
  expect(call.serverSocket.listenerCount("message")).toBe(0);
  expect(process.getActiveResourcesInfo().filter((name) => name === "Timeout").length).toBeLessThanOrEqual(
    before,
  );
});

function frameLengths(call: LiveCall): number[] {
  return call.arrivals.flatMap((arrival) => (arrival.type === "audio" ? [arrival.bytes.length] : []));
}

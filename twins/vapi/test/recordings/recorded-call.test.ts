/** The recording of a live call, sample by sample against what its client sent and heard. */
import { decodeMulaw } from "@offhook/audio/mulaw";
import { bytesToSamples } from "@offhook/audio/pcm";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AudioFormat } from "../../schema/call.ts";
import { startToneRuntime, type ToneRuntime } from "../tone-runtime.ts";

/** A tone that is no phrase, so that nobody answers it. */
const NOISE_HZ = 200;
const PCM_24K: AudioFormat = { format: "pcm_s16le", sampleRate: 24_000 };
let runtime: ToneRuntime;

beforeEach(async () => {
  runtime = await startToneRuntime();
});
afterEach(async () => {
  runtime.hangUp();
  await runtime.stop();
});

const recordingOf = (id: string, headers: Record<string, string> = {}) =>
  fetch(`${runtime.controlUrl}/sim/recordings/${id}`, {
    headers: { "x-api-key": runtime.apiKey, ...headers },
  });

interface Lanes {
  sampleRate: number;
  caller: Int16Array;
  assistant: Int16Array;
}

async function lanesOf(id: string): Promise<Lanes> {
  const answer = await recordingOf(id);
  expect(answer.status).toBe(200);
  const file = Buffer.from(await answer.arrayBuffer());
  expect(file.length).toBe(Number(answer.headers.get("content-length")));
  expect(file.readUInt16LE(22)).toBe(2);
  const stereo = bytesToSamples(file.subarray(44));
  return {
    sampleRate: file.readUInt32LE(24),
    caller: stereo.filter((_, at) => at % 2 === 0),
    assistant: stereo.filter((_, at) => at % 2 === 1),
  };
}

/** Expects the same samples, without printing a million of them. */
function expectSame(actual: Int16Array, expected: Int16Array): void {
  const differs = expected.findIndex((sample, at) => sample !== actual[at]);
  const around = (samples: Int16Array) => [...samples.subarray(Math.max(0, differs - 3), differs + 3)];
  expect({ differs, length: actual.length, ...(differs < 0 ? {} : { samples: around(actual) }) }).toEqual({
    differs: -1,
    length: expected.length,
    ...(differs < 0 ? {} : { samples: around(expected) }),
  });
}

async function peaksOf(id: string, query = "") {
  const { status, body } = await runtime.control("GET", `/recordings/${id}/peaks${query}`);
  expect(status).toBe(200);
  const decode = (text: string): number[] => [...new Int8Array(Buffer.from(text, "base64"))];
  return { ...body, lanes: { caller: decode(body.lanes.caller), assistant: decode(body.lanes.assistant) } };
}

/** Lowest and highest of every `window` samples in 8 bits, rounded away from 0. */
function peaksOfSamples(samples: Int16Array, window: number): number[] {
  const peaks: number[] = [];
  for (let at = 0; at < samples.length; at += window) {
    const piece = [...samples.subarray(at, at + window), 0];
    peaks.push(Math.floor(Math.min(...piece) / 256), Math.min(127, Math.ceil(Math.max(...piece) / 256)));
  }
  return peaks;
}

/** Where the assistant's utterances began, in media time. */
async function assistantStarts(id: string): Promise<number[]> {
  const rows = await runtime.control("GET", `/data?entity_type=messages&call_id=${id}&role=assistant`);
  return rows.body.rows.map(({ start_ms }: { start_ms: number }) => start_ms);
}

describe("the recording of a call", () => {
  test.each<[string, AudioFormat]>([
    ["PCM of 24 kHz", PCM_24K],
    ["PCM of the internal rate", { format: "pcm_s16le", sampleRate: 16_000 }],
    ["PCM of 44.1 kHz", { format: "pcm_s16le", sampleRate: 44_100 }],
    ["µ-law of 8 kHz", { format: "mulaw", sampleRate: 8_000 }],
  ])("has the samples that were sent and heard, each at its place: %s", async (_name, format) => {
    const { id, caller } = await runtime.join({ firstMessage: "Hello." }, format);
    caller.startStreaming();
    await caller.brief("transcript assistant final: Hello.");
    const greeting = caller.arrivals.filter(({ type }) => type === "audio").length;
    await caller.say(caller.tone(NOISE_HZ, 800));
    caller.command({ type: "say", content: "One moment." });
    await caller.brief("transcript assistant final: One moment.");
    caller.stopStreaming();
    caller.command({ type: "end-call" });
    await caller.closed();
    await runtime.ended(id);

    const lanes = await lanesOf(id);
    expect(lanes.sampleRate).toBe(format.sampleRate);
    const samplesOf = format.format === "mulaw" ? decodeMulaw : bytesToSamples;
    const sent = samplesOf(caller.sentBytes);
    expectSame(lanes.caller, sent);

    const [first = 0, second = 0, ...more] = await assistantStarts(id);
    expect(more).toEqual([]);
    const expected = new Int16Array(lanes.assistant.length);
    const heard = caller.arrivals.flatMap((arrival) => (arrival.type === "audio" ? [arrival.bytes] : []));
    expected.set(samplesOf(Buffer.concat(heard.slice(0, greeting))), (first * format.sampleRate) / 1000);
    expected.set(samplesOf(Buffer.concat(heard.slice(greeting))), (second * format.sampleRate) / 1000);
    expectSame(lanes.assistant, expected);
  });

  test("has zeros where the wall clock put silence, on both sides in step", async () => {
    const { id, caller } = await runtime.join({ firstMessageMode: "assistant-waits-for-user" });
    // Nothing is sent, so the clock runs by itself.
    caller.command({ type: "say", content: "One moment." });
    await caller.brief("transcript assistant final: One moment.");
    const [startMs = 0] = await assistantStarts(id);
    caller.startStreaming();
    await caller.say(caller.tone(NOISE_HZ, 300));
    caller.stopStreaming();
    caller.command({ type: "end-call" });
    await caller.closed();
    await runtime.ended(id);

    const lanes = await lanesOf(id);
    const sent = bytesToSamples(caller.sentBytes);
    const silent = lanes.caller.length - sent.length;
    expect(silent).toBeGreaterThan(24 * startMs);
    expect(lanes.caller.subarray(0, silent).every((sample) => sample === 0)).toBe(true);
    expectSame(lanes.caller.slice(silent), sent);
    const { heard } = caller;
    expectSame(lanes.assistant.slice(24 * startMs, 24 * startMs + heard.length), heard);
  });

  test("of an assistant cut short has what left before that, and nothing of the rest", async () => {
    const { id, caller } = await runtime.join({ firstMessageMode: "assistant-waits-for-user" });
    caller.startStreaming();
    caller.command({
      type: "say",
      content: "This is a sentence of some length.",
      interruptionsEnabled: true,
    });
    await caller.brief("speech-update assistant started 0");
    await caller.say(caller.tone(900, 900));
    await caller.message(({ type }) => type === "user-interrupted");
    await caller.brief("transcript user final: Stop.");
    caller.stopStreaming();
    caller.command({ type: "end-call" });
    await caller.closed();
    await runtime.ended(id);
    const lanes = await lanesOf(id);
    const [startMs = 0] = await assistantStarts(id);
    const cutAt = caller.arrivals.findIndex(
      (arrival) => arrival.type === "message" && arrival.message.type === "user-interrupted",
    );
    const heard = caller.arrivals
      .slice(0, cutAt)
      .flatMap((arrival) => (arrival.type === "audio" ? [arrival.bytes] : []));
    const expected = new Int16Array(24 * (startMs + 1_000));
    expected.set(bytesToSamples(Buffer.concat(heard)), 24 * startMs);
    expect(heard.length).toBeGreaterThan(0);
    expectSame(lanes.assistant.slice(0, expected.length), expected);
  });

  test("of a running call is what there is so far, and grows", async () => {
    const { id, caller } = await runtime.join({ firstMessage: "Hello." });
    caller.startStreaming();
    await caller.say(caller.tone(600, 300));
    await caller.brief("transcript assistant final: Hello.");
    const early = await lanesOf(id);
    await caller.say(caller.tone(600, 3_000));
    const late = await lanesOf(id);
    expect(early.caller.length).toBeGreaterThan(0);
    expect(late.caller.length).toBeGreaterThan(early.caller.length + 24 * 2_000);
    expectSame(late.caller.slice(0, early.caller.length), early.caller);
    expectSame(late.assistant.slice(0, early.assistant.length), early.assistant);
    const sent = bytesToSamples(caller.sentBytes);
    expectSame(late.caller, sent.slice(0, late.caller.length));
  });

  test("has peaks of every 20 ms, made while it runs, in which only digital silence is silent", async () => {
    const { id, caller } = await runtime.join({ firstMessage: "Hello." });
    caller.startStreaming();
    await caller.say(caller.tone(NOISE_HZ, 777));
    await caller.brief("transcript assistant final: Hello.");
    const early = await peaksOf(id);
    caller.stopStreaming();
    caller.command({ type: "end-call" });
    await caller.closed();
    await runtime.ended(id);

    const lanes = await lanesOf(id);
    const late = await peaksOf(id);
    expect([early.complete, late.complete]).toEqual([false, true]);
    expect(late.duration_ms).toBeCloseTo(lanes.caller.length / 24, 6);
    for (const side of ["caller", "assistant"] as const) {
      const expected = peaksOfSamples(lanes[side], 480);
      expect(late.lanes[side]).toEqual(expected);
      expect(early.lanes[side].length).toBeGreaterThan(0);
      expect(early.lanes[side]).toEqual(expected.slice(0, early.lanes[side].length));
      const coarse = await peaksOf(id, "?resolution_ms=100&from_ms=350");
      expect([coarse.from_ms, coarse.resolution_ms]).toEqual([300, 100]);
      expect(coarse.lanes[side]).toEqual(peaksOfSamples(lanes[side], 2_400).slice(6));
    }
    const nothing = await peaksOf(id, "?from_ms=900000");
    expect(nothing).toMatchObject({ lanes: { caller: [], assistant: [] }, complete: true });
    const refused = await runtime.control("GET", `/recordings/${id}/peaks?resolution_ms=30`);
    expect([refused.status, refused.body.error.problems[0].field]).toEqual([422, "resolution_ms"]);
  });

  test("is gone after a reset, and there is none when the assistant's plan turns it off", async () => {
    const { id, caller } = await runtime.join({ firstMessage: "Hello." });
    caller.startStreaming();
    await caller.brief("transcript assistant final: Hello.");
    expect((await recordingOf(id)).status).toBe(200);
    await runtime.control("POST", "/reset", {});
    await caller.closed();
    expect((await recordingOf(id)).status).toBe(404);

    const off = await runtime.join({ firstMessage: "Hello.", artifactPlan: { recordingEnabled: false } });
    off.caller.startStreaming();
    await off.caller.brief("transcript assistant final: Hello.");
    const answer = await recordingOf(off.id);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({
      error: { message: expect.stringContaining("artifactPlan") },
    });
  });

  test("is served in ranges, and needs the key", async () => {
    const { id, caller } = await runtime.join({ firstMessage: "Hello." });
    caller.startStreaming();
    await caller.brief("transcript assistant final: Hello.");
    caller.command({ type: "end-call" });
    await caller.closed();
    await runtime.ended(id);
    const whole = await recordingOf(id);
    const file = Buffer.from(await whole.arrayBuffer());
    expect(whole.headers.get("accept-ranges")).toBe("bytes");
    const part = await recordingOf(id, { range: "bytes=100-4099" });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, `bytes 100-4099/${file.length}`]);
    expect(Buffer.from(await part.arrayBuffer()).equals(file.subarray(100, 4_100))).toBe(true);
    const beyond = await recordingOf(id, { range: `bytes=${file.length}-` });
    expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, `bytes */${file.length}`]);
    const changed = await recordingOf(id, { range: "bytes=100-4099", "if-range": '"other"' });
    expect(changed.status).toBe(200);
    await changed.body?.cancel();
    const same = await recordingOf(id, { range: "bytes=-10", "if-range": whole.headers.get("etag") ?? "" });
    expect(Buffer.from(await same.arrayBuffer()).equals(file.subarray(-10))).toBe(true);
    expect((await recordingOf(id, { "x-api-key": "wrong" })).status).toBe(401);
  });
});

import { describe, expect, test } from "vitest";
import { applyGain, concatSamples, mix, msToSamples, silence } from "../pcm.ts";
import { resample } from "../resample.ts";
import { readSampleLibrary } from "../sample-library.ts";
import { createSpeechDetector, type SpeechEdge } from "../speech-detector.ts";
import { SAMPLES_FOLDER } from "../testing/samples.ts";
import { whiteNoise } from "../testing/sounds.ts";

const RATE = 24_000;
const library = readSampleLibrary(SAMPLES_FOLDER);
const utterance = library.get("open-incident");
const PAUSE = silence(1_000, RATE);

async function edgesOf(
  audio: Int16Array,
  sampleRate = RATE,
  chunkSamples = audio.length,
): Promise<SpeechEdge[]> {
  const detector = await createSpeechDetector({ sampleRate, startMs: 60, endMs: 500 });
  const edges: SpeechEdge[] = [];
  for (let at = 0; at < audio.length; at += chunkSamples) {
    edges.push(...detector.push(audio.subarray(at, at + chunkSamples)));
  }
  detector.close();
  return edges;
}

describe("a speech detector", () => {
  test.each(library.all().filter(({ kind }) => kind === "speech"))(
    "hears where $name starts and ends",
    async (sample) => {
      for (const gain of [0, -12]) {
        const edges = await edgesOf(concatSamples(applyGain(sample.pcm, gain), PAUSE));
        const [first, last] = [edges[0], edges.at(-1)];
        expect(first?.type).toBe("start");
        expect(first?.atSample).toBeGreaterThan(msToSamples(300, RATE));
        expect(first?.atSample).toBeLessThan(msToSamples(850, RATE));
        expect(last?.type).toBe("end");
        expect(last?.atSample).toBeGreaterThan(sample.pcm.length - msToSamples(750, RATE));
        expect(last?.atSample).toBeLessThan(sample.pcm.length);
        expect(edges).toHaveLength(sample.name === "search-page-down" ? 4 : 2);
      }
    },
  );

  test("gives the same edges for any chunk size", async () => {
    const audio = concatSamples(utterance.pcm, PAUSE);
    const edges = await edgesOf(audio);
    for (const chunkSamples of [1, 77, 480, 5_001])
      expect(await edgesOf(audio, RATE, chunkSamples)).toEqual(edges);
  });

  test.each([8_000, 11_025, 16_000, 44_100, 48_000])("works at %d samples per second", async (rate) => {
    const audio = concatSamples(utterance.pcm, PAUSE);
    const inMs = (edges: SpeechEdge[], sampleRate: number) =>
      edges.map(({ atSample }) => (atSample * 1_000) / sampleRate);
    const reference = inMs(await edgesOf(audio), RATE);
    const heard = inMs(await edgesOf(resample(audio, RATE, rate), rate), rate);
    expect(heard).toHaveLength(reference.length);
    for (const [at, ms] of heard.entries())
      expect(Math.abs(ms - (reference[at] ?? 0))).toBeLessThanOrEqual(60);
  });

  test("does not classify silence or low noise as speech, from the first sample on", async () => {
    expect(await edgesOf(silence(10_000, RATE))).toEqual([]);
    for (const level of [-70, -60, -50, -45, -40, -35]) {
      expect(await edgesOf(whiteNoise(10_000, level, 5, RATE)), `${level} dB`).toEqual([]);
      expect(await edgesOf(concatSamples(PAUSE, whiteNoise(10_000, level, 6, RATE))), `${level} dB`).toEqual(
        [],
      );
    }
    expect(await edgesOf(library.get("noise").pcm)).toEqual([]);
  });

  test("still hears speech after minutes of silence, and in noise", async () => {
    const late = await edgesOf(concatSamples(silence(180_000, RATE), utterance.pcm, PAUSE));
    expect(late.map(({ type }) => type)).toEqual(["start", "end"]);
    const audio = concatSamples(silence(2_000, RATE), utterance.pcm, PAUSE, PAUSE);
    const noisy = await edgesOf(mix(audio, whiteNoise((audio.length * 1_000) / RATE, -42, 7, RATE)));
    expect(noisy.map(({ type }) => type)).toEqual(["start", "end"]);
  });

  test("counts its position and the silence in samples of the stream", async () => {
    const detector = await createSpeechDetector({ sampleRate: RATE, startMs: 60, endMs: 500 });
    detector.push(silence(300, RATE));
    expect(detector.silenceSamples).toBe(msToSamples(300, RATE));
    detector.push(utterance.pcm.subarray(0, msToSamples(2_000, RATE)));
    expect(detector.positionSamples).toBe(msToSamples(2_300, RATE));
    expect(detector.speaking).toBe(true);
    expect(detector.silenceSamples).toBeLessThan(msToSamples(200, RATE));
    detector.push(silence(400, RATE));
    expect(detector.speaking).toBe(true);
    const [end] = detector.push(silence(400, RATE));
    expect(end?.type).toBe("end");
    expect(detector.speaking).toBe(false);
    expect(detector.silenceSamples).toBe(detector.positionSamples - (end?.atSample ?? 0));
    detector.close();
  });

  test("frees its memory: closed detectors make room for thousands of others", async () => {
    for (let round = 0; round < 5_000; round++) {
      const detector = await createSpeechDetector({ sampleRate: 16_000, startMs: 60, endMs: 500 });
      detector.close();
      detector.close();
    }
    const closed = await createSpeechDetector({ sampleRate: 16_000, startMs: 60, endMs: 500 });
    closed.close();
    expect(() => closed.push(silence(100, 16_000))).toThrow("closed");
  });
});

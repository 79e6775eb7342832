import { CALLER_RATE, concatSamples, msToSamples, silence } from "@offhook/audio/pcm";
import { resample } from "@offhook/audio/resample";
import { readSampleLibrary } from "@offhook/audio/sample-library";
import { normaliseRecording } from "@offhook/audio/sample-shape";
import { SAMPLES_FOLDER } from "@offhook/audio/testing/samples";
import { processorMsOf } from "@offhook/platform/testing/processor-time";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FLITE_VOICES } from "../../providers/flite/voices.ts";
import { createFliteSynthesis } from "../../providers/flite-synthesis.ts";
import { INTERNAL_RATE } from "../../providers/provider.ts";
import { MATCH_LIMITS, Recogniser } from "../../providers/recognition/recogniser.ts";
import { HARMLESS, notSpeech, RUINOUS, toRuntime, UNRELATED_SENTENCES, withNoise } from "./distortions.ts";

const library = readSampleLibrary(SAMPLES_FOLDER);
const samples = library.all().filter(({ kind }) => kind === "speech");
const recogniser = new Recogniser(samples.map(({ text, pcm }) => ({ text, audio: toRuntime(pcm) })));
const synthesis = createFliteSynthesis();
const report: string[] = [];
/** How near the matches lie, for whoever sets the limits: set RECOGNISER_FIGURES=1. It takes every hearing twice. */
const figuresWanted = process.env.RECOGNISER_FIGURES !== undefined;

beforeAll(() => {
  recogniser.transcribe(toRuntime(library.get("yes-please").pcm));
});

afterAll(async () => {
  await synthesis.close();
  const { distance, worstStretch, ratioToRunnerUp } = MATCH_LIMITS;
  const limits = `limits: distance ${distance}, worst stretch ${worstStretch}, ratio to the runner-up ${ratioToRunnerUp}`;
  console.log(["lowest–median–highest", limits, ...report].join("\n"));
});

interface Hearing {
  audio: Int16Array;
  /** `null`: nothing may be understood. */
  text: string | null;
}

/** Transcribes all; reports how the matches lie, and answers those that came out wrong. */
function mistakesIn(name: string, hearings: readonly Hearing[]): string[] {
  const spread = (values: number[]): string => {
    const sorted = values.toSorted((a, b) => a - b);
    return [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)]
      .map((value) => value?.toFixed(2) ?? "none")
      .join("–");
  };
  const matches = (figuresWanted ? hearings : [])
    .map(({ audio }) => recogniser.match(audio))
    .filter((match) => match !== undefined);
  const heard = hearings.map(({ audio, text }) => ({ text, got: recogniser.transcribe(audio) }));
  const wrong = heard.filter(({ text, got }) => text !== got);
  const figures = (["distance", "worstStretch", "ratioToRunnerUp"] as const).map((key) => {
    return spread(matches.map((match) => match[key]));
  });
  report.push(
    `${name.padEnd(32)} ${hearings.length - wrong.length}/${hearings.length} right  ${figures.join("  ")}`,
  );
  return wrong.map(({ text, got }) => `${text} → ${got}`);
}

async function speak(text: string, voiceId: string): Promise<Int16Array> {
  return synthesis.speak(text, { provider: "flite", voiceId }, new AbortController().signal);
}

describe("every sample of speech is recognised", () => {
  test.each(Object.entries(HARMLESS))("%s", (name, distort) => {
    const hearings = samples.map(({ text, pcm }) => ({ text, audio: toRuntime(distort(pcm)) }));
    expect(mistakesIn(name, hearings)).toEqual([]);
  });

  test.each([15, 10])(
    "in noise at %d dB it may go unrecognised, but is not taken for another",
    (decibels) => {
      const hearings = samples.map(({ text, pcm }) => ({ text, audio: toRuntime(withNoise(pcm, decibels)) }));
      const mistakes = mistakesIn(`noise at ${decibels} dB`, hearings);
      expect(mistakes.length).toBeLessThan(samples.length / 2);
      expect(mistakes.filter((mistake) => !mistake.endsWith("→ null"))).toEqual([]);
    },
  );
});

describe("nothing is understood", () => {
  test.each(Object.entries(RUINOUS))("%s", (name, distort) => {
    const hearings = samples.map(({ pcm }) => ({ text: null, audio: toRuntime(distort(pcm)) }));
    expect(mistakesIn(name, hearings)).toEqual([]);
  });

  test("two utterances run together", () => {
    const gap = msToSamples(300, CALLER_RATE);
    const halves = samples.map(({ pcm }) => ({
      first: toRuntime(pcm.subarray(0, -gap)),
      second: toRuntime(pcm.subarray(gap)),
    }));
    const hearings = halves.flatMap(({ first }, at) =>
      halves
        .filter((_, other) => other !== at)
        .map(({ second }) => ({ text: null, audio: concatSamples(first, second) })),
    );
    expect(mistakesIn("two run together", hearings)).toEqual([]);
  });

  test("noise, chords, sweeps, melodies, silence", () => {
    const hearings = [...notSpeech()].map(([, audio]) => ({ text: null, audio }));
    expect(mistakesIn("no speech", hearings)).toEqual([]);
  });

  test("samples that are no speech, or at the wrong rate", () => {
    const others = library.all().filter(({ kind }) => kind !== "speech");
    expect(others.length).toBeGreaterThanOrEqual(3);
    const hearings = others.map(({ pcm }) => ({ text: null, audio: toRuntime(pcm) }));
    expect(mistakesIn("other samples", hearings)).toEqual([]);
  });

  test("sentences no sample says, in the samples' own voices", async () => {
    const spoken = FLITE_VOICES.flatMap((voice) => UNRELATED_SENTENCES.map((text) => speak(text, voice)));
    const hearings = (await Promise.all(spoken)).map((audio) => ({ text: null, audio }));
    expect(mistakesIn("unrelated sentences", hearings)).toEqual([]);
  });
});

describe("the limits hold beyond the shipped samples", () => {
  test("a sample removed from the library is no longer recognised", () => {
    const hearings = samples.map(({ text, pcm }) => {
      const others = samples.filter((sample) => sample.text !== text);
      const without = new Recogniser(
        others.map((sample) => ({ text: sample.text, audio: toRuntime(sample.pcm) })),
      );
      return { text, heard: [pcm, withNoise(pcm, 20)].map((audio) => without.transcribe(toRuntime(audio))) };
    });
    const mistaken = hearings.filter(({ heard }) => heard.some((text) => text !== null));
    report.push(`taken out of the library: ${mistaken.length} of ${samples.length} taken for another`);
    expect(mistaken).toEqual([]);
  });

  test("a library of other sentences works as well", async () => {
    const others = await Promise.all(
      UNRELATED_SENTENCES.map(async (text, at) => {
        const spoken = await speak(text, FLITE_VOICES[at % FLITE_VOICES.length] ?? "slt");
        return { text, pcm: normaliseRecording(resample(spoken, INTERNAL_RATE, CALLER_RATE)) };
      }),
    );
    const other = new Recogniser(others.map(({ text, pcm }) => ({ text, audio: toRuntime(pcm) })));
    const missed: string[] = [];
    for (const [name, distort] of Object.entries(HARMLESS)) {
      for (const { text, pcm } of others) {
        if (other.transcribe(toRuntime(distort(pcm))) !== text) missed.push(`${name}: ${text}`);
      }
    }
    const mistaken = samples.filter(({ pcm }) => other.transcribe(toRuntime(pcm)) !== null);
    const total = others.length * Object.keys(HARMLESS).length;
    report.push(
      `another library: ${total - missed.length} of ${total} right, ${mistaken.length} taken for another`,
    );
    expect(missed).toEqual([]);
    expect(mistaken).toEqual([]);
  });
});

test("a sample's sentence in another voice is recognised or not, never mistaken for another", async () => {
  const others = samples.flatMap(({ text, voice }) => {
    return FLITE_VOICES.filter((other) => other !== voice).map(async (other) => ({
      text,
      audio: await speak(text, other),
    }));
  });
  const mistakes = mistakesIn("other voices", await Promise.all(others));
  expect(mistakes.filter((mistake) => !mistake.endsWith("→ null"))).toEqual([]);
});

describe("the words said so far", () => {
  test.each(samples)("$name: grow word by word, always the beginning of what is said", ({ text, pcm }) => {
    const audio = toRuntime(pcm);
    const partials: (string | null)[] = [];
    for (let end = INTERNAL_RATE / 2; end < audio.length; end += INTERNAL_RATE / 5) {
      partials.push(recogniser.partial(audio.subarray(0, end)));
    }
    partials.push(recogniser.partial(audio));
    const said = partials.filter((partial) => partial !== null);
    for (const partial of said) expect(text.startsWith(partial), partial).toBe(true);
    expect(said.at(-1)).toBe(text);
    expect(said.map(({ length }) => length)).toEqual(
      said.map(({ length }) => length).toSorted((a, b) => a - b),
    );
    expect(new Set(said).size).toBeGreaterThanOrEqual(text.split(" ").length / 2);
  });

  test("in noise at 20 dB no word is invented", () => {
    let [known, all] = [0, 0];
    for (const { text, pcm } of samples) {
      const audio = toRuntime(withNoise(pcm, 20));
      for (let end = INTERNAL_RATE; end < audio.length; end += INTERNAL_RATE / 2, all++) {
        const partial = recogniser.partial(audio.subarray(0, end));
        if (partial === null) continue;
        expect(text.startsWith(partial), partial).toBe(true);
        known += 1;
      }
    }
    report.push(`partials in noise at 20 dB: ${known} of ${all} gave words`);
    expect(known).toBeGreaterThan(all / 2);
  });

  test("sentences that begin alike give the words they share", () => {
    const beginnings = ["open-legacy", "page-database-team"].map((name) => {
      const audio = toRuntime(library.get(name).pcm);
      return [1, 1.1, 1.2, 1.3].map((seconds) =>
        recogniser.partial(audio.subarray(0, seconds * INTERNAL_RATE)),
      );
    });
    for (const partial of beginnings.flat())
      expect([null, "Please", "Please open", "Please page"]).toContain(partial);
  });

  test("none in noise, music, swapped bytes, a wrong rate, another sentence", async () => {
    const nothing = [...notSpeech()].map(([, audio]) => audio);
    const ruined = samples.flatMap(({ pcm }) => {
      return [
        "bytes swapped",
        "one byte late",
        "16 kHz sent as 24 kHz",
        "24 kHz read as 16 kHz",
        "backwards",
      ].map((name) => {
        return toRuntime(RUINOUS[name]?.(pcm) ?? pcm);
      });
    });
    const unrelated = await Promise.all(UNRELATED_SENTENCES.map((text) => speak(text, "slt")));
    const all = [...nothing, ...ruined, ...unrelated];
    const heard = all.map((audio) => recogniser.partial(audio)).filter((partial) => partial !== null);
    report.push(`partials made up: ${heard.length} of ${all.length}`);
    expect(heard).toEqual([]);
  });
});

test("silence within an utterance is part of it", () => {
  const { pcm, text } = library.get("search-page-down");
  const audio = toRuntime(pcm);
  const inThePause = audio.subarray(0, msToSamples(2_700, INTERNAL_RATE));
  expect(recogniser.partial(inThePause)).toBe("I need to report a problem,");
  expect(recogniser.transcribe(inThePause)).toBeNull();
  expect(recogniser.transcribe(audio)).toBe(text);
});

test("a turn of four seconds takes at most 60 ms of CPU, and so does a partial", () => {
  const audio = concatSamples(toRuntime(library.get("ask-status").pcm), silence(120, INTERNAL_RATE));
  const fastest = (run: () => unknown): number => {
    const times = Array.from({ length: 7 }, () => {
      return processorMsOf(run);
    });
    return Math.min(...times);
  };
  const whole = fastest(() => recogniser.transcribe(audio));
  const partial = fastest(() => recogniser.partial(audio));
  report.push(
    `4 s against ${samples.length} samples: ${whole.toFixed(1)} ms, partial ${partial.toFixed(1)} ms`,
  );
  expect(whole).toBeLessThan(60);
  expect(partial).toBeLessThan(60);
});

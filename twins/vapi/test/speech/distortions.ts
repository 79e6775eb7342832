/** What happens to a caller's audio on its way, and sounds that are no caller at all. */

import { decodeMulaw, encodeMulaw } from "@offhook/audio/mulaw";
import {
  applyGain,
  bytesToSamples,
  CALLER_RATE,
  concatSamples,
  levelDb,
  mix,
  msToSamples,
  samplesToBytes,
  silence,
} from "@offhook/audio/pcm";
import { resample } from "@offhook/audio/resample";
import { chords, whiteNoise } from "@offhook/audio/testing/sounds";
import { INTERNAL_RATE } from "../../providers/provider.ts";

type Distortion = (pcm: Int16Array) => Int16Array;

const GAP = msToSamples(300, CALLER_RATE);
const PAUSE = silence(300, CALLER_RATE);

/** The way from the call socket to the recogniser. */
export const toRuntime: Distortion = (pcm) => resample(pcm, CALLER_RATE, INTERNAL_RATE);

export function withNoise(pcm: Int16Array, signalToNoiseDb: number, seed = 1): Int16Array {
  const level = levelDb(pcm.filter((sample) => sample !== 0)) - signalToNoiseDb;
  return mix(pcm, whiteNoise((pcm.length * 1_000) / CALLER_RATE, level, seed, CALLER_RATE));
}

/** From 24 kHz to 24 kHz; after any of these a sample must be recognised. */
export const HARMLESS: Record<string, Distortion> = {
  "as it is": (pcm) => pcm,
  "12 dB louder, clipped": (pcm) => applyGain(pcm, 12),
  "12 dB quieter": (pcm) => applyGain(pcm, -12),
  "noise at 20 dB": (pcm) => withNoise(pcm, 20),
  "other noise at 20 dB": (pcm) => withNoise(pcm, 20, 99),
  "noise at 20 dB, 12 dB louder": (pcm) => applyGain(withNoise(pcm, 20, 7), 12),
  "noise at 20 dB, 12 dB quieter": (pcm) => applyGain(withNoise(pcm, 20, 8), -12),
  "300 ms cut before": (pcm) => pcm.subarray(GAP),
  "300 ms cut after": (pcm) => pcm.subarray(0, -GAP),
  "300 ms cut before and after": (pcm) => pcm.subarray(GAP, -GAP),
  "300 ms added before": (pcm) => concatSamples(PAUSE, pcm),
  "300 ms added after": (pcm) => concatSamples(pcm, PAUSE),
  "300 ms added before and after": (pcm) => concatSamples(PAUSE, pcm, PAUSE),
  "20 s added before and after": (pcm) =>
    concatSamples(silence(20_000, CALLER_RATE), pcm, silence(20_000, CALLER_RATE)),
  "1.5 s of noise after": (pcm) => withNoise(concatSamples(PAUSE, pcm, silence(1_500, CALLER_RATE)), 20),
  "24 to 16 to 24 kHz": (pcm) => resample(toRuntime(pcm), INTERNAL_RATE, CALLER_RATE),
  "one sample late": (pcm) => concatSamples(Int16Array.of(0), pcm),
  "half a window late": (pcm) => concatSamples(new Int16Array(192), pcm),
  "µ-law at 8 kHz": (pcm) =>
    resample(decodeMulaw(encodeMulaw(resample(pcm, CALLER_RATE, 8_000))), 8_000, CALLER_RATE),
};

/** After any of these there is nothing left to be understood. */
export const RUINOUS: Record<string, Distortion> = {
  "16 kHz sent as 24 kHz": (pcm) => resample(pcm, CALLER_RATE, 16_000),
  "24 kHz read as 16 kHz": (pcm) => resample(pcm, 16_000, CALLER_RATE),
  "8 kHz sent as 24 kHz": (pcm) => resample(pcm, CALLER_RATE, 8_000),
  "48 kHz sent as 24 kHz": (pcm) => resample(pcm, CALLER_RATE, 48_000),
  "bytes swapped": (pcm) => bytesToSamples(samplesToBytes(pcm).swap16()),
  "one byte late": (pcm) => bytesToSamples(samplesToBytes(pcm).subarray(1, -1)),
  "16-bit samples read as µ-law": (pcm) => decodeMulaw(samplesToBytes(pcm)),
  "first half": (pcm) => pcm.subarray(0, pcm.length >> 1),
  "second half": (pcm) => pcm.subarray(pcm.length >> 1),
  backwards: (pcm) => pcm.slice().reverse(),
  "twice in a row": (pcm) => concatSamples(pcm, pcm),
};

/** Sounds at `INTERNAL_RATE` in which nobody speaks. */
export function* notSpeech(): Generator<[name: string, audio: Int16Array]> {
  yield ["nothing", new Int16Array(0)];
  for (const seconds of [1, 2, 3, 4, 6]) {
    const ms = seconds * 1_000;
    yield [`${seconds} s of silence`, silence(ms, INTERNAL_RATE)];
    for (const level of [-60, -40, -20]) {
      yield [`${seconds} s of noise at ${level} dB`, whiteNoise(ms, level, seconds, INTERNAL_RATE)];
    }
    yield [`${seconds} s of noise in bursts`, bursts(ms)];
    yield [`${seconds} s of chords`, chords(ms, -22, INTERNAL_RATE)];
    yield [`${seconds} s of a rising sweep`, sweep(ms, 100, 4_000)];
    yield [`${seconds} s of a falling sweep`, sweep(ms, 3_000, 100)];
    for (let seed = 1; seed <= 6; seed++) yield [`${seconds} s of melody ${seed}`, melody(ms, seed)];
  }
}

function bursts(durationMs: number): Int16Array {
  return whiteNoise(durationMs, -20, 4, INTERNAL_RATE).map((sample, at) =>
    Math.floor(at / 3_000) % 2 ? sample : 0,
  );
}

function sweep(durationMs: number, fromHertz: number, toHertz: number): Int16Array {
  const seconds = durationMs / 1_000;
  return silence(durationMs, INTERNAL_RATE).map((_, at) => {
    const time = at / INTERNAL_RATE;
    return (
      9_000 * Math.sin(2 * Math.PI * (fromHertz * time + ((toHertz - fromHertz) * time * time) / seconds / 2))
    );
  });
}

/** Plucked notes of a scale, with overtones, of varying length. */
function melody(durationMs: number, seed: number): Int16Array {
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const audio = silence(durationMs, INTERNAL_RATE);
  for (let start = 0; start < audio.length; ) {
    const hertz = 220 * 2 ** (Math.floor(random() * 24) / 12);
    const lengthSamples = msToSamples(80 + random() * 300, INTERNAL_RATE);
    for (let at = 0; at < lengthSamples && start + at < audio.length; at++) {
      const loudness = 6_000 * Math.exp(-at / 4_000) * Math.min(1, at / 80);
      let wave = 0;
      for (let harmonic = 1; harmonic < 6; harmonic++) {
        wave += Math.sin((2 * Math.PI * hertz * harmonic * at) / INTERNAL_RATE) / harmonic;
      }
      audio[start + at] = loudness * wave;
    }
    start += lengthSamples;
  }
  return audio;
}

/** Sentences of daily life that no sample says. */
export const UNRELATED_SENTENCES = [
  "The weather in the mountains is lovely this time of year.",
  "My sister bought a new car last week.",
  "Can you tell me when the next train leaves for London?",
  "Please remind me to water the plants tomorrow.",
  "I would like a table for two near the window.",
  "How much does it cost to send this parcel?",
  "Nobody knows where the old key has gone.",
  "We should meet again on Thursday afternoon.",
  "He was reading a book about the history of ships.",
  "My account number is four seven one nine.",
  "No, thank you.",
  "What time is it now?",
  "Sorry, I have no idea what you mean.",
  "Who is in charge of deliveries today?",
  "What is the price of a ticket for two adults and one child?",
  "Please open a window for the lady in the corner.",
  "Hello, I want to cancel an order for the wedding service.",
  "Tell me a story about a dragon and a princess who lived far away in a castle by the sea.",
];

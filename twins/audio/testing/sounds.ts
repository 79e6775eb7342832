/** Sounds that are no speech, the same on every machine. */

import { createRandom } from "@offhook/platform/base/random";
import { applyGain, levelDb, msToSamples } from "../pcm.ts";

/** Notes of the chords, in hertz; each chord sounds for half a second. */
const CHORDS = [
  [261.6, 329.6, 392.0],
  [220.0, 261.6, 329.6],
  [174.6, 220.0, 261.6],
  [196.0, 246.9, 293.7],
];
const CHORD_MS = 500;
const NOTE_FADE_MS = 30;

/** White noise from a seeded generator. */
export function whiteNoise(
  durationMs: number,
  levelInDb: number,
  seed: number,
  sampleRate: number,
): Int16Array {
  const random = createRandom(seed);
  const peak = 32_768 * 10 ** (levelInDb / 20) * Math.sqrt(3);
  return new Int16Array(msToSamples(durationMs, sampleRate)).map(() => Math.round((random() * 2 - 1) * peak));
}

/** A slow row of chords, each faded in and out. */
export function chords(durationMs: number, levelInDb: number, sampleRate: number): Int16Array {
  const chordSamples = msToSamples(CHORD_MS, sampleRate);
  const fadeSamples = msToSamples(NOTE_FADE_MS, sampleRate);
  const tones = new Int16Array(msToSamples(durationMs, sampleRate)).map((_, at) => {
    const chord = CHORDS[Math.floor(at / chordSamples) % CHORDS.length] ?? [];
    const within = at % chordSamples;
    const fade = Math.min(1, within / fadeSamples, (chordSamples - within) / fadeSamples);
    const sum = chord.reduce((total, hertz) => total + Math.sin((2 * Math.PI * hertz * at) / sampleRate), 0);
    return Math.round(8_000 * fade * (sum / chord.length));
  });
  return applyGain(tones, levelInDb - levelDb(tones));
}

/**
 * A language of tones, to test live calls to the millisecond: a phrase is a tone of a known frequency, recognised by its
 * zero crossings; the assistant's voice is a tone as long as its text.
 */
import type { SpeechDetector, SpeechEdge } from "@offhook/audio/speech-detector";
import { INTERNAL_RATE, type Recognition, type Synthesis } from "../providers/provider.ts";

const FRAME_SAMPLES = INTERNAL_RATE / 100;
const AUDIBLE = 500;
/** Length of one character of the assistant's speech. */
export const CHARACTER_MS = 50;
export const VOICE_HZ = 300;

const PHRASES: Record<number, string> = {
  400: "Hello there.",
  500: "What is the status?",
  600: "The number is nineteen",
  700: "and then",
  800: "okay",
  900: "Stop.",
  1000: "Tell me more about it please.",
};

export function tone(hz: number, durationMs: number, sampleRate: number): Int16Array {
  const samples = Math.round((durationMs * sampleRate) / 1000);
  return Int16Array.from(
    { length: samples },
    (_, at) => 8_000 * Math.sin((2 * Math.PI * hz * at) / sampleRate),
  );
}

/** Classifies loud frames as speech, with the hysteresis of the real detector. */
export function createLevelDetector(startMs: number, endMs: number): SpeechDetector {
  let rest = new Int16Array(0);
  let frames = 0;
  let loudFrames = 0;
  let lastLoudFrame = 0;
  const detector = {
    speaking: false,
    positionSamples: 0,
    silenceSamples: 0,
    closed: false,
    push(audio: Int16Array): SpeechEdge[] {
      if (detector.closed) throw new Error("this detector is closed");
      const edges: SpeechEdge[] = [];
      detector.positionSamples += audio.length;
      const all = new Int16Array([...rest, ...audio]);
      let at = 0;
      for (; at + FRAME_SAMPLES <= all.length; at += FRAME_SAMPLES) {
        frames += 1;
        const loud = all.subarray(at, at + FRAME_SAMPLES).some((sample) => Math.abs(sample) > AUDIBLE);
        loudFrames = loud ? loudFrames + 1 : 0;
        if (loud) lastLoudFrame = frames;
        if (!detector.speaking && loudFrames * 10 >= startMs) {
          detector.speaking = true;
          edges.push({ type: "start", atSample: (frames - loudFrames) * FRAME_SAMPLES });
        } else if (detector.speaking && (frames - lastLoudFrame) * 10 >= endMs) {
          detector.speaking = false;
          edges.push({ type: "end", atSample: lastLoudFrame * FRAME_SAMPLES });
        }
      }
      rest = all.slice(at);
      return edges;
    },
    close() {
      detector.closed = true;
    },
  };
  return detector;
}

/** Recognises a sequence of `PHRASES`; other tones are noise. */
export const toneRecognition: Recognition = {
  async transcribe(speech) {
    return { text: recognisePhrases(speech) };
  },
  async partial(speech) {
    const words = recognisePhrases(speech)?.replace(/[.?]/g, "").split(" ");
    return { text: words?.slice(0, Math.max(1, Math.ceil(speech.length / 4_000))).join(" ") ?? null };
  },
};

export const toneSynthesis: Synthesis = {
  async speak(text) {
    return tone(VOICE_HZ, text.length * CHARACTER_MS, INTERNAL_RATE);
  },
};

function recognisePhrases(speech: Int16Array): string | null {
  const phrases = frequenciesIn(speech).flatMap((hz) => {
    const known = Object.keys(PHRASES)
      .map(Number)
      .find((frequency) => Math.abs(frequency - hz) < 25);
    return known === undefined ? [] : [PHRASES[known] ?? ""];
  });
  return phrases.length === 0 ? null : phrases.join(" ");
}

/** Mean frequency of each stretch of sound longer than 50 ms. */
function frequenciesIn(speech: Int16Array): number[] {
  const found: number[] = [];
  let from = -1;
  let lastLoud = 0;
  for (let at = 0; at <= speech.length; at++) {
    const loud = Math.abs(speech[at] ?? 0) > AUDIBLE;
    if (loud) lastLoud = at;
    if (loud && from < 0) from = at;
    const over = from >= 0 && (at === speech.length || at - lastLoud > FRAME_SAMPLES);
    if (!over) continue;
    const sound = speech.subarray(from, lastLoud + 1);
    if (sound.length > INTERNAL_RATE / 20) found.push(frequencyOf(sound));
    from = -1;
  }
  return found;
}

export function frequencyOf(sound: Int16Array, sampleRate = INTERNAL_RATE): number {
  let crossings = 0;
  for (let at = 1; at < sound.length; at++) {
    if ((sound[at - 1] ?? 0) < 0 !== (sound[at] ?? 0) < 0) crossings += 1;
  }
  return (crossings * sampleRate) / (2 * sound.length);
}

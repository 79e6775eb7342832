/** Recognises speech by comparing it with labelled recordings. */
import { type Alignment, alignBeginning, alignWhole } from "./alignment.ts";
import { extractFeatures, type Features, sliceFrames, soundingFrames, trimToSpeech } from "./features.ts";
import { type MelSpectrogram, melSpectrogram } from "./spectrum.ts";
import { commonPrefix, type TimedText, timeWords, wordsWithin } from "./word-timing.ts";

/** A recording in mono PCM16 at `INTERNAL_RATE`, and its text. */
export interface LabelledRecording {
  text: string;
  audio: Int16Array;
}

/** How well a recording matches what was heard. */
export interface Match extends Alignment {
  text: string;
  /** Duration of what was heard, divided by the recording's. */
  lengthRatio: number;
  /** Distance, divided by that of the best recording of another text; 0 when no other is of a similar length. */
  ratioToRunnerUp: number;
}

/**
 * The limits of a match. Calibrated on the shipped samples, between what must be recognised (gain, clipping, noise at
 * 20 dB, cut margins: distance up to 0.31, worst stretch up to 0.55) and what must not be (other sentences in the same
 * voice, parts of an utterance, two in a row: distance from 0.50, worst stretch from 0.87).
 */
export const MATCH_LIMITS = {
  distance: 0.48,
  worstStretch: 0.65,
  ratioToRunnerUp: 0.75,
  shortest: 0.75,
  longest: 1.33,
} as const;

/** The limits of a match with the beginning of a recording. */
const BEGINNING_LIMITS = { distance: 0.45, worstStretch: 0.8, runnerUpShare: 0.8 } as const;

/** Shorter beginnings (0.4 s) say nothing. */
const MIN_FRAMES = 25;
/** Turns longer than two minutes are not recognised. */
const MAX_SAMPLES = 120 * 16_000;

interface Reference {
  timed: TimedText;
  speech: MelSpectrogram;
  features: Features;
}

export class Recogniser {
  readonly #references: Reference[];

  /** @throws Error naming a recording without detectable speech */
  constructor(recordings: readonly LabelledRecording[]) {
    this.#references = recordings.map(({ text, audio }) => {
      const speech = trimToSpeech(melSpectrogram(audio));
      if (speech === undefined) throw new Error(`no speech can be found in the recording of “${text}”`);
      return { timed: timeWords(text, soundingFrames(speech)), speech, features: extractFeatures(speech) };
    });
  }

  /** The words of a whole utterance; `null` when it is none of the recorded ones. */
  transcribe(audio: Int16Array): string | null {
    const match = this.match(audio);
    return match !== undefined && isWithinLimits(match) ? match.text : null;
  }

  /** The words said so far; `null` when what was heard is not the beginning of a recording. */
  partial(audio: Int16Array): string | null {
    const heard = findSpeech(audio);
    if (heard === undefined || heard.frames < MIN_FRAMES) return null;
    const features = extractFeatures(heard);
    const beginnings = this.#references
      .map((reference) => alignWithBeginning(features, reference))
      .filter((found) => found !== undefined)
      .sort((a, b) => a.distance - b.distance);
    const [best, ...others] = beginnings;
    if (best === undefined) return null;
    if (best.distance > BEGINNING_LIMITS.distance || best.worstStretch > BEGINNING_LIMITS.worstStretch)
      return null;
    const asGood = others.filter(({ distance }) => best.distance > distance * BEGINNING_LIMITS.runnerUpShare);
    const words = asGood.reduce((common, { words }) => commonPrefix(common, words), best.words);
    return words.length === 0 ? null : words.join(" ");
  }

  /** The nearest recording, at any distance; `undefined` without speech, or when no recording is of a similar length. */
  match(audio: Int16Array): Match | undefined {
    const heard = findSpeech(audio);
    if (heard === undefined) return undefined;
    const features = extractFeatures(heard);
    const matches = this.#references
      .map(({ timed: { text }, features: reference }) => ({
        text,
        reference,
        lengthRatio: heard.frames / reference.frames,
      }))
      .filter(
        ({ lengthRatio }) => lengthRatio >= MATCH_LIMITS.shortest && lengthRatio <= MATCH_LIMITS.longest,
      )
      .map(({ text, reference, lengthRatio }) => ({ text, lengthRatio, ...alignWhole(features, reference) }))
      .sort((a, b) => a.distance - b.distance);
    const [best] = matches;
    if (best === undefined) return undefined;
    const runnerUp = matches.find(({ text }) => text !== best.text);
    return { ...best, ratioToRunnerUp: runnerUp === undefined ? 0 : best.distance / runnerUp.distance };
  }
}

function isWithinLimits(match: Match): boolean {
  return (
    match.distance <= MATCH_LIMITS.distance &&
    match.worstStretch <= MATCH_LIMITS.worstStretch &&
    match.ratioToRunnerUp <= MATCH_LIMITS.ratioToRunnerUp
  );
}

function findSpeech(audio: Int16Array): MelSpectrogram | undefined {
  return audio.length > MAX_SAMPLES ? undefined : trimToSpeech(melSpectrogram(audio));
}

/**
 * Aligns the heard speech with the beginning of a recording. Cuts the recording to a little more than the heard length
 * first, so that both are normalised over the same words.
 */
function alignWithBeginning(
  heard: Features,
  { timed, speech }: Reference,
): (Alignment & { words: string[] }) | undefined {
  if (heard.frames > speech.frames * MATCH_LIMITS.longest) return undefined;
  const reference = extractFeatures(
    sliceFrames(speech, 0, Math.min(speech.frames, Math.ceil(heard.frames * 1.05))),
  );
  const alignment = alignBeginning(heard, reference);
  return { ...alignment, words: wordsWithin(timed, alignment.covered) };
}

/** Recognises speech by comparing it with recordings whose words are known. */
import { type Alignment, alignBeginning, alignWhole } from "./alignment.ts";
import { type Features, featuresOf, part, soundingFrames, speechIn } from "./features.ts";
import { type MelSpectrogram, melSpectrogram } from "./spectrum.ts";
import { commonBeginning, type TimedText, timeWords, wordsWithin } from "./words.ts";

/** Mono PCM16 at `INTERNAL_RATE`, and what is said in it. */
export interface LabelledRecording {
  text: string;
  audio: Int16Array;
}

/** Why a recording is, or is not, what was heard. */
export interface Match extends Alignment {
  text: string;
  /** Duration of what was heard, by the recording's. */
  lengthRatio: number;
  /** Distance by that of the best recording of other words; 0 when no other is anywhere near. */
  ratioToRunnerUp: number;
}

/**
 * The limits, all of which a match must keep. Set on the shipped samples, between what must be recognised (gain,
 * clipping, noise at 20 dB, cut margins: distance up to 0.31, worst stretch up to 0.55) and what must not (other
 * sentences in the same voice, parts of an utterance, two in a row: from 0.50, and from 0.87 up).
 */
export const MATCH_LIMITS = {
  distance: 0.48,
  worstStretch: 0.65,
  ratioToRunnerUp: 0.75,
  shortest: 0.75,
  longest: 1.33,
} as const;

/** The same for the beginning of a recording. */
export const BEGINNING_LIMITS = { distance: 0.45, worstStretch: 0.8, runnerUpShare: 0.8 } as const;

/** The shortest beginning that says anything: 0.4 s. */
const LEAST_FRAMES = 25;
/** Turns longer than two minutes are not looked at. */
const LONGEST_SAMPLES = 120 * 16_000;

interface Reference {
  timed: TimedText;
  speech: MelSpectrogram;
  features: Features;
}

export class Recogniser {
  readonly #references: Reference[];

  /** @throws Error naming the text of a recording in which no speech can be found. */
  constructor(recordings: readonly LabelledRecording[]) {
    this.#references = recordings.map(({ text, audio }) => {
      const speech = speechIn(melSpectrogram(audio));
      if (speech === undefined) throw new Error(`no speech can be found in the recording of “${text}”`);
      return { timed: timeWords(text, soundingFrames(speech)), speech, features: featuresOf(speech) };
    });
  }

  /** The words of a whole utterance; `null` when it is none of the recorded ones. */
  transcribe(audio: Int16Array): string | null {
    const match = this.match(audio);
    return match !== undefined && keepsLimits(match) ? match.text : null;
  }

  /** The words said so far; `null` when what was heard is not the beginning of a recording. */
  partial(audio: Int16Array): string | null {
    const heard = speechOf(audio);
    if (heard === undefined || heard.frames < LEAST_FRAMES) return null;
    const features = featuresOf(heard);
    const beginnings = this.#references
      .map((reference) => beginning(features, reference))
      .filter((found) => found !== undefined)
      .sort((a, b) => a.distance - b.distance);
    const [best, ...others] = beginnings;
    if (best === undefined) return null;
    if (best.distance > BEGINNING_LIMITS.distance || best.worstStretch > BEGINNING_LIMITS.worstStretch)
      return null;
    const asGood = others.filter(({ distance }) => best.distance > distance * BEGINNING_LIMITS.runnerUpShare);
    const words = asGood.reduce((common, { words }) => commonBeginning(common, words), best.words);
    return words.length === 0 ? null : words.join(" ");
  }

  /** The nearest recording, near or not; `undefined` when there is no speech, or none of a length that could be meant. */
  match(audio: Int16Array): Match | undefined {
    const heard = speechOf(audio);
    if (heard === undefined) return undefined;
    const features = featuresOf(heard);
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

function keepsLimits(match: Match): boolean {
  return (
    match.distance <= MATCH_LIMITS.distance &&
    match.worstStretch <= MATCH_LIMITS.worstStretch &&
    match.ratioToRunnerUp <= MATCH_LIMITS.ratioToRunnerUp
  );
}

function speechOf(audio: Int16Array): MelSpectrogram | undefined {
  return audio.length > LONGEST_SAMPLES ? undefined : speechIn(melSpectrogram(audio));
}

/**
 * How well the heard speech covers the beginning of a recording. The recording is cut to a little more than the heard
 * length first, so that both are normalised over the same words.
 */
function beginning(
  heard: Features,
  { timed, speech }: Reference,
): (Alignment & { words: string[] }) | undefined {
  if (heard.frames > speech.frames * MATCH_LIMITS.longest) return undefined;
  const reference = featuresOf(part(speech, 0, Math.min(speech.frames, Math.ceil(heard.frames * 1.05))));
  const alignment = alignBeginning(heard, reference);
  return { ...alignment, words: wordsWithin(timed, alignment.covered) };
}

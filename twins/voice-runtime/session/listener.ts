/** Hears the caller: finds speech, keeps the audio of the turn under way, and has it transcribed. */
import type { Logger } from "pino";
import { concatSamples, msToSamples, samplesToMs } from "../../audio/pcm.ts";
import type { SpeechDetector } from "../../audio/speech-detector.ts";
import { INTERNAL_RATE, type Recognition } from "../providers/provider.ts";
import { PROVIDER_TIMEOUT_MS, withDeadline } from "./deadline.ts";
import { TICK_SAMPLES } from "./media-clock.ts";

/** Speech counts as such after this, and as over after that much silence. */
export const SPEECH_START_MS = 100;
export const SPEECH_END_MS = 400;

/** Audio kept before speech is noticed, and taken along from before its onset. */
const KEPT_FRAMES = 60;
const LEAD_IN_MS = 200;
/** A turn longer than this is transcribed from its last part. */
const LONGEST_TURN_SAMPLES = msToSamples(120_000, INTERNAL_RATE);

export type Edge = { type: "speech-started" | "speech-ended"; atMs: number };

export interface ListenerOptions {
  detector: SpeechDetector;
  /** Position of the call when it begins to listen. */
  startMs: number;
  recognition: Recognition;
  language: string;
  log: Logger;
  /** Ends with the call. */
  signal: AbortSignal;
}

export class Listener {
  readonly #detector: SpeechDetector;
  readonly #startMs: number;
  readonly #recognition: Recognition;
  readonly #language: string;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  /** The latest frames, oldest first. */
  #recent: Int16Array[] = [];
  #turn: TurnAudio | undefined;
  #positionSamples = 0;
  /** How long the last transcription took, in wall time. */
  transcriberMs = 0;

  constructor({ detector, startMs, recognition, language, log, signal }: ListenerOptions) {
    this.#detector = detector;
    this.#startMs = startMs;
    this.#recognition = recognition;
    this.#language = language;
    this.#log = log;
    this.#signal = signal;
  }

  /** Takes the caller's next 10 ms. */
  push(frame: Int16Array): Edge[] {
    this.#positionSamples += frame.length;
    this.#recent.push(frame.slice());
    if (this.#recent.length > KEPT_FRAMES) this.#recent.shift();
    this.#turn?.append(frame);
    return this.#detector.push(frame).map(({ type, atSample }) => ({
      type: type === "start" ? "speech-started" : "speech-ended",
      atMs: this.#startMs + samplesToMs(atSample, INTERNAL_RATE),
    }));
  }

  /** A new turn, of speech that began at `fromMs`. */
  open(fromMs: number): void {
    const positionMs = this.#startMs + samplesToMs(this.#positionSamples, INTERNAL_RATE);
    const wantedMs = positionMs - fromMs + LEAD_IN_MS;
    const frames = Math.ceil(msToSamples(wantedMs, INTERNAL_RATE) / TICK_SAMPLES);
    this.#turn = new TurnAudio(concatSamples(...this.#recent.slice(-Math.max(1, frames))));
  }

  /** The turn is settled: what comes now is not part of it. */
  settle(): void {
    this.#turn = undefined;
  }

  /** What seems to have been said of the turn so far. */
  async hearSoFar(): Promise<string | null> {
    const turn = this.#turn;
    if (turn === undefined) return null;
    try {
      const { text } = await withDeadline(this.#signal, PROVIDER_TIMEOUT_MS, (signal) =>
        this.#recognition.partial(turn.since(0), this.#language, signal),
      );
      return text;
    } catch (error) {
      this.#logFailure(error);
      return null;
    }
  }

  /**
   * Transcribes the turn as far as it goes. What was understood of its beginning is kept when nothing can be made of
   * the whole: a cough after a sentence does not undo the sentence.
   */
  async hear(): Promise<string | null> {
    const turn = this.#turn;
    if (turn === undefined) return null;
    const startedAt = performance.now();
    const endSample = turn.endSample;
    try {
      const whole = await this.#transcribe(turn.since(0));
      const text =
        whole ??
        (turn.known && joined(turn.known.text, await this.#transcribe(turn.since(turn.known.endSample))));
      if (text !== undefined) turn.known = { text, endSample };
      return text ?? null;
    } catch (error) {
      if (!this.#signal.aborted)
        this.#log.error({ err: error }, "speech recognition failed: nothing was heard");
      return turn.known?.text ?? null;
    } finally {
      this.transcriberMs = performance.now() - startedAt;
    }
  }

  close(): void {
    this.#detector.close();
    this.#turn = undefined;
    this.#recent = [];
  }

  #logFailure(error: unknown): void {
    if (!this.#signal.aborted)
      this.#log.error({ err: error }, "speech recognition failed: nothing was heard");
  }

  async #transcribe(speech: Int16Array): Promise<string | null> {
    const { text } = await withDeadline(this.#signal, PROVIDER_TIMEOUT_MS, (signal) =>
      this.#recognition.transcribe(speech, this.#language, signal),
    );
    return text === null || text.trim() === "" ? null : text.trim();
  }
}

/** The audio of one turn, growing. */
class TurnAudio {
  #samples: Int16Array;
  #length: number;
  /** Samples dropped from the beginning. */
  #dropped = 0;
  /** What was understood of it, up to a position. */
  known: { text: string; endSample: number } | undefined;

  constructor(beginning: Int16Array) {
    this.#samples = new Int16Array(Math.max(beginning.length, msToSamples(4_000, INTERNAL_RATE)));
    this.#samples.set(beginning);
    this.#length = beginning.length;
  }

  get endSample(): number {
    return this.#dropped + this.#length;
  }

  append(frame: Int16Array): void {
    if (this.#length + frame.length > LONGEST_TURN_SAMPLES) {
      const half = this.#length >> 1;
      this.#samples.copyWithin(0, half, this.#length);
      this.#length -= half;
      this.#dropped += half;
    }
    if (this.#length + frame.length > this.#samples.length) {
      const larger = new Int16Array(Math.min(2 * this.#samples.length, LONGEST_TURN_SAMPLES));
      larger.set(this.#samples.subarray(0, this.#length));
      this.#samples = larger;
    }
    this.#samples.set(frame, this.#length);
    this.#length += frame.length;
  }

  /** A copy of the audio from position `sample` on. */
  since(sample: number): Int16Array {
    return this.#samples.slice(Math.max(0, sample - this.#dropped), this.#length);
  }
}

function joined(known: string, more: string | null): string {
  return more === null ? known : `${known} ${more}`;
}

/** Listens to the caller: detects speech, collects the audio of the current turn, and has it transcribed. */

import { concatSamples, msToSamples, samplesToMs } from "@offhook/audio/pcm";
import type { SpeechDetector } from "@offhook/audio/speech-detector";
import { withDeadline } from "@offhook/platform/base/deadline";
import type { Logger } from "pino";
import { INTERNAL_RATE, PROVIDER_TIMEOUT_MS, type Recognition } from "../providers/provider.ts";
import { TICK_SAMPLES } from "./media-clock.ts";

/** How long sound must last to count as speech, and silence to end it. */
export const SPEECH_START_MS = 100;
export const SPEECH_END_MS = 400;

/** Look-back buffer for speech detected late, in frames; and audio included from before the onset. */
const LOOKBACK_FRAMES = 60;
const LEAD_IN_MS = 200;

/** A longer turn loses its beginning. */
const MAX_TURN_SAMPLES = msToSamples(120_000, INTERNAL_RATE);
/** Initial capacity; the buffer doubles when a turn is longer. */
const ORDINARY_TURN_SAMPLES = msToSamples(4_000, INTERNAL_RATE);

export type Edge = { type: "speech-started" | "speech-ended"; atMs: number };

export interface ListenerOptions {
  detector: SpeechDetector;
  /** Position of the call when listening starts. */
  startMs: number;
  recognition: Recognition;
  language: string;
  log: Logger;
}

export class Listener {
  readonly #detector: SpeechDetector;
  readonly #startMs: number;
  readonly #recognition: Recognition;
  readonly #language: string;
  readonly #log: Logger;
  /** The look-back buffer, oldest frame first. */
  #recent: Int16Array[] = [];
  #turn: TurnAudio | undefined;
  #positionSamples = 0;
  /** Cancel the transcriptions in progress. */
  #final = new AbortController();
  #partial = new AbortController();
  /** Wall time of the last transcription. */
  transcriberMs = 0;

  constructor({ detector, startMs, recognition, language, log }: ListenerOptions) {
    this.#detector = detector;
    this.#startMs = startMs;
    this.#recognition = recognition;
    this.#language = language;
    this.#log = log;
  }

  /** Takes the caller's next 10 ms. */
  push(frame: Int16Array): Edge[] {
    this.#positionSamples += frame.length;
    this.#recent.push(frame.slice());
    if (this.#recent.length > LOOKBACK_FRAMES) this.#recent.shift();
    this.#turn?.append(frame);
    return this.#detector.push(frame).map(({ type, atSample }) => ({
      type: type === "start" ? "speech-started" : "speech-ended",
      atMs: this.#startMs + samplesToMs(atSample, INTERNAL_RATE),
    }));
  }

  /** Starts a turn whose speech began at `fromMs`. */
  open(fromMs: number): void {
    const positionMs = this.#startMs + samplesToMs(this.#positionSamples, INTERNAL_RATE);
    const wantedMs = positionMs - fromMs + LEAD_IN_MS;
    const frames = Math.ceil(msToSamples(wantedMs, INTERNAL_RATE) / TICK_SAMPLES);
    this.#turn = new TurnAudio(concatSamples(...this.#recent.slice(-Math.max(1, frames))));
  }

  /** Ends the turn: later audio is not part of it. */
  settle(): void {
    this.#turn = undefined;
  }

  /** Transcribes the turn up to now, as a partial result. */
  async transcribePartial(): Promise<string | null> {
    const turn = this.#turn;
    if (turn === undefined) return null;
    this.#partial = supersede(this.#partial);
    const { signal } = this.#partial;
    try {
      const { text } = await withDeadline(signal, this.#timeoutMs, (deadline) =>
        this.#recognition.partial(turn.since(0), this.#language, deadline),
      );
      return text;
    } catch (error) {
      this.#logFailure(error, signal);
      return null;
    }
  }

  /**
   * Transcribes the turn up to now, and cancels an earlier transcription of it. If the whole is not recognised, an
   * earlier result for its beginning stands: a cough after a sentence does not undo the sentence.
   */
  async transcribe(): Promise<string | null> {
    const turn = this.#turn;
    if (turn === undefined) return null;
    const startedAt = performance.now();
    this.#final = supersede(this.#final);
    const { signal } = this.#final;
    try {
      return await this.#transcribeTurn(turn, signal);
    } catch (error) {
      this.#logFailure(error, signal);
      return turn.known?.text ?? null;
    } finally {
      this.transcriberMs = performance.now() - startedAt;
    }
  }

  get #timeoutMs(): number {
    return this.#recognition.timeoutMs ?? PROVIDER_TIMEOUT_MS;
  }

  close(): void {
    this.#final.abort(new Error("the call is over"));
    this.#partial.abort(new Error("the call is over"));
    this.#detector.close();
    this.#turn = undefined;
    this.#recent = [];
  }

  async #transcribeTurn(turn: TurnAudio, signal: AbortSignal): Promise<string | null> {
    const { endSample, known } = turn;
    const whole = await this.#transcribeAudio(turn.since(0), signal);
    const text =
      whole ??
      (known && appendText(known.text, await this.#transcribeAudio(turn.since(known.endSample), signal)));
    if (text === undefined) return null;
    turn.known = { text, endSample };
    return text;
  }

  async #transcribeAudio(speech: Int16Array, parent: AbortSignal): Promise<string | null> {
    const { text } = await withDeadline(parent, this.#timeoutMs, (signal) =>
      this.#recognition.transcribe(speech, this.#language, signal),
    );
    return text === null || text.trim() === "" ? null : text.trim();
  }

  #logFailure(error: unknown, signal: AbortSignal): void {
    if (!signal.aborted) this.#log.error({ err: error }, "speech recognition failed: nothing was heard");
  }
}

/** The growing audio of one user turn, and the transcript of its beginning. */
class TurnAudio {
  #samples: Int16Array;
  #length: number;
  /** Samples dropped from the beginning. */
  #dropped = 0;
  /** Transcript of the audio up to `endSample`. */
  known: { text: string; endSample: number } | undefined;

  constructor(beginning: Int16Array) {
    this.#samples = new Int16Array(Math.max(beginning.length, ORDINARY_TURN_SAMPLES));
    this.#samples.set(beginning);
    this.#length = beginning.length;
  }

  get endSample(): number {
    return this.#dropped + this.#length;
  }

  append(frame: Int16Array): void {
    if (this.#length + frame.length > MAX_TURN_SAMPLES) {
      const half = this.#length >> 1;
      this.#samples.copyWithin(0, half, this.#length);
      this.#length -= half;
      this.#dropped += half;
    }
    if (this.#length + frame.length > this.#samples.length) {
      const larger = new Int16Array(Math.min(2 * this.#samples.length, MAX_TURN_SAMPLES));
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

/** Aborts the request in progress. @returns the controller of the one that replaces it */
function supersede(former: AbortController): AbortController {
  former.abort(new Error("a later request takes its place"));
  return new AbortController();
}

function appendText(known: string, more: string | null): string {
  return more === null ? known : `${known} ${more}`;
}

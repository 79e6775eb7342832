/** Hears the caller: finds speech, keeps the audio of the turn under way, and has it transcribed. */

import { concatSamples, msToSamples, samplesToMs } from "@offhook/audio/pcm";
import type { SpeechDetector } from "@offhook/audio/speech-detector";
import { withDeadline } from "@offhook/platform/base/deadline";
import type { Logger } from "pino";
import { INTERNAL_RATE, PROVIDER_TIMEOUT_MS, type Recognition } from "../providers/provider.ts";
import { TICK_SAMPLES } from "./media-clock.ts";
import { TurnAudio } from "./turn-audio.ts";

/** Speech counts as such after this, and as over after that much silence. */
export const SPEECH_START_MS = 100;
export const SPEECH_END_MS = 400;

/** Audio kept before speech is noticed, and taken along from before its onset. */
const KEPT_FRAMES = 60;
const LEAD_IN_MS = 200;

export type Edge = { type: "speech-started" | "speech-ended"; atMs: number };

export interface ListenerOptions {
  detector: SpeechDetector;
  /** Position of the call when it begins to listen. */
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
  /** The latest frames, oldest first. */
  #recent: Int16Array[] = [];
  #turn: TurnAudio | undefined;
  #positionSamples = 0;
  /** Transcriptions under way. */
  #whole = new AbortController();
  #partial = new AbortController();
  /** How long the last transcription took, in wall time. */
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
    this.#partial = superseding(this.#partial);
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
   * Transcribes the turn as far as it goes; a transcription still under way is given up. What was understood of its
   * beginning is kept when nothing can be made of the whole: a cough after a sentence does not undo the sentence.
   */
  async hear(): Promise<string | null> {
    const turn = this.#turn;
    if (turn === undefined) return null;
    const startedAt = performance.now();
    this.#whole = superseding(this.#whole);
    const { signal } = this.#whole;
    try {
      return await this.#understand(turn, signal);
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
    this.#whole.abort(new Error("the call is over"));
    this.#partial.abort(new Error("the call is over"));
    this.#detector.close();
    this.#turn = undefined;
    this.#recent = [];
  }

  async #understand(turn: TurnAudio, signal: AbortSignal): Promise<string | null> {
    const { endSample, known } = turn;
    const whole = await this.#transcribe(turn.since(0), signal);
    const text =
      whole ?? (known && joined(known.text, await this.#transcribe(turn.since(known.endSample), signal)));
    if (text === undefined) return null;
    turn.known = { text, endSample };
    return text;
  }

  async #transcribe(speech: Int16Array, parent: AbortSignal): Promise<string | null> {
    const { text } = await withDeadline(parent, this.#timeoutMs, (signal) =>
      this.#recognition.transcribe(speech, this.#language, signal),
    );
    return text === null || text.trim() === "" ? null : text.trim();
  }

  #logFailure(error: unknown, signal: AbortSignal): void {
    if (!signal.aborted) this.#log.error({ err: error }, "speech recognition failed: nothing was heard");
  }
}

/** Gives up what is under way for what takes its place. */
function superseding(former: AbortController): AbortController {
  former.abort(new Error("a later request takes its place"));
  return new AbortController();
}

function joined(known: string, more: string | null): string {
  return more === null ? known : `${known} ${more}`;
}

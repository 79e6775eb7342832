/**
 * How late speech arrives, against a playback without a buffer that begins with its first piece. Only speech counts: a
 * callee need not send anything between its turns, and may send silence faster than real time.
 */
import { CALLER_RATE, msToSamples, samplesToMs } from "@offhook/audio/pcm";
import { isAudible } from "./audible.ts";

/** Received silence after which the next sound begins a playback of its own. */
const PAUSE_SAMPLES = msToSamples(200, CALLER_RATE);
/** Wall time without audio after which the next sound begins a playback of its own: it is a new turn, not a late frame. */
const MAX_GAP_MS = 2_000;

export class PlaybackClock {
  readonly #speed: number;
  /** When the playback began; `undefined` between two. */
  #beganAt: number | undefined;
  #receivedSamples = 0;
  #quietSamples = 0;
  #lastAt = 0;

  /** @param speed how many times faster than real time the audio is played */
  constructor(speed: number) {
    this.#speed = speed;
  }

  /**
   * Takes a piece of received audio.
   * @param atMs wall time of its arrival
   * @returns how late its first sample is, in milliseconds of wall time; `undefined` for audio outside of speech
   */
  push(audio: Int16Array, atMs: number): number | undefined {
    const audible = audio.some(isAudible);
    this.#quietSamples = audible ? 0 : this.#quietSamples + audio.length;
    if (this.#quietSamples >= PAUSE_SAMPLES || atMs - this.#lastAt > MAX_GAP_MS) this.#beganAt = undefined;
    this.#lastAt = atMs;
    if (this.#beganAt === undefined) {
      if (!audible) return undefined;
      this.#beganAt = atMs;
      this.#receivedSamples = 0;
    }
    const dueAt = this.#beganAt + samplesToMs(this.#receivedSamples, CALLER_RATE) / this.#speed;
    this.#receivedSamples += audio.length;
    return Math.max(0, atMs - dueAt);
  }
}

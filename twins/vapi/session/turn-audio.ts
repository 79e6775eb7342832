/** The growing audio of one user turn, and the transcript of its beginning. */
import { msToSamples } from "@offhook/audio/pcm";
import { INTERNAL_RATE } from "../providers/provider.ts";

/** A longer turn loses its beginning. */
const MAX_TURN_SAMPLES = msToSamples(120_000, INTERNAL_RATE);
/** Initial capacity; the buffer doubles when a turn is longer. */
const ORDINARY_TURN_SAMPLES = msToSamples(4_000, INTERNAL_RATE);

export class TurnAudio {
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

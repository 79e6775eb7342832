/** The audio of one turn of the user, growing; and what was understood of its beginning. */
import { msToSamples } from "@offhook/audio/pcm";
import { INTERNAL_RATE } from "../providers/provider.ts";

/** Of a longer turn only the last part is kept. */
const LONGEST_TURN_SAMPLES = msToSamples(120_000, INTERNAL_RATE);
/** Room for an ordinary turn; a longer one takes more. */
const ORDINARY_TURN_SAMPLES = msToSamples(4_000, INTERNAL_RATE);

export class TurnAudio {
  #samples: Int16Array;
  #length: number;
  /** Samples dropped from the beginning. */
  #dropped = 0;
  /** What was understood of it, up to a position. */
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

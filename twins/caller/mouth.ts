/** The caller's microphone: gives 20 ms of audio after another, an utterance while one is being said, else silence. */
import { CALLER_RATE, FRAME_MS, msToSamples } from "@offhook/audio/pcm";
import { isAudible } from "./audible.ts";

export const FRAME_SAMPLES = msToSamples(FRAME_MS, CALLER_RATE);
const SILENT_FRAME = new Int16Array(FRAME_SAMPLES);

export interface SpokenAudio {
  /** Clock of the caller (samples sent) at the first audible sample. */
  startSamples: number;
  /** Clock of the caller after the last audible sample. */
  endSamples: number;
}

export class Mouth {
  #pcm: Int16Array | undefined;
  #position = 0;
  #startedAt = 0;

  get speaking(): boolean {
    return this.#pcm !== undefined;
  }

  /** Begins an utterance with the next frame. @param now the caller's clock */
  say(pcm: Int16Array, now: number): void {
    this.#pcm = pcm;
    this.#position = 0;
    this.#startedAt = now;
  }

  /** The next 20 ms. `spoken` comes with the frame that ends an utterance. */
  nextFrame(): { frame: Int16Array; spoken?: SpokenAudio } {
    const pcm = this.#pcm;
    if (pcm === undefined) return { frame: SILENT_FRAME };
    const part = pcm.subarray(this.#position, this.#position + FRAME_SAMPLES);
    this.#position += part.length;
    const frame = part.length === FRAME_SAMPLES ? part : padded(part);
    if (this.#position < pcm.length) return { frame };
    this.#pcm = undefined;
    return { frame, spoken: audiblePart(pcm, this.#startedAt) };
  }

  /** Falls silent. @returns what was said of the utterance */
  stop(): SpokenAudio | undefined {
    const said = this.#pcm?.subarray(0, this.#position);
    this.#pcm = undefined;
    return said === undefined ? undefined : audiblePart(said, this.#startedAt);
  }
}

function audiblePart(pcm: Int16Array, startedAt: number): SpokenAudio {
  const first = pcm.findIndex(isAudible);
  const last = pcm.findLastIndex(isAudible);
  return { startSamples: startedAt + Math.max(first, 0), endSamples: startedAt + last + 1 };
}

function padded(part: Int16Array): Int16Array {
  const frame = new Int16Array(FRAME_SAMPLES);
  frame.set(part);
  return frame;
}

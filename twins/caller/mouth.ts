/** The caller's microphone: frames of 20 ms, from the current utterance or else silence. */
import { CALLER_RATE, FRAME_MS, msToSamples } from "@offhook/audio/pcm";
import { isAudible } from "./audible.ts";

export const FRAME_SAMPLES = msToSamples(FRAME_MS, CALLER_RATE);
const SILENT_FRAME = new Int16Array(FRAME_SAMPLES);

export interface SpokenAudio {
  /** The caller's clock (samples sent) at the first audible sample. */
  startSamples: number;
  /** The caller's clock after the last audible sample. */
  endSamples: number;
}

export class Mouth {
  #pcm: Int16Array | undefined;
  #position = 0;
  #startedAt = 0;

  get speaking(): boolean {
    return this.#pcm !== undefined;
  }

  /** Starts an utterance with the next frame. @param now the caller's clock */
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
    const frame = part.length === FRAME_SAMPLES ? part : padToFrame(part);
    if (this.#position < pcm.length) return { frame };
    this.#pcm = undefined;
    return { frame, spoken: audiblePart(pcm, this.#startedAt) };
  }

  /** Stops speaking. @returns the spoken part of the utterance */
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

function padToFrame(part: Int16Array): Int16Array {
  const frame = new Int16Array(FRAME_SAMPLES);
  frame.set(part);
  return frame;
}

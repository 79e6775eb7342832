/** The waveform of a recording: the lowest and the highest sample of each side in every 20 ms, made as audio passes. */
import { LANES } from "./call-audio.ts";

export const PEAK_MS = 20;
/** Lowest and highest of each side. */
const VALUES = 2 * LANES;
const FIRST_CAPACITY = 1_024;

/** Peaks of one side: for each window its lowest and its highest sample, in 8 bits. */
export interface LanePeaks {
  caller: Int8Array;
  assistant: Int8Array;
}

export class Peaks {
  readonly #sampleRate: number;
  /** Lowest and highest of the caller, then of the assistant, window by window. */
  #values = new Int8Array(FIRST_CAPACITY * VALUES);
  #windows = 0;
  /** Position in the recording, and where the current window ends, in samples of one side. */
  #position = 0;
  #windowEnd: number;
  #callerLow = 0;
  #callerHigh = 0;
  #assistantLow = 0;
  #assistantHigh = 0;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
    this.#windowEnd = this.#endOf(0);
  }

  /** Complete windows. */
  get windows(): number {
    return this.#windows;
  }

  add(stereo: Int16Array): void {
    for (let at = 0; at + 1 < stereo.length; at += LANES) {
      const caller = stereo[at] ?? 0;
      const assistant = stereo[at + 1] ?? 0;
      if (caller < this.#callerLow) this.#callerLow = caller;
      if (caller > this.#callerHigh) this.#callerHigh = caller;
      if (assistant < this.#assistantLow) this.#assistantLow = assistant;
      if (assistant > this.#assistantHigh) this.#assistantHigh = assistant;
      this.#position += 1;
      if (this.#position === this.#windowEnd) this.#close();
    }
  }

  /** Completes the last window, however short it is. */
  end(): void {
    if (this.#position > this.#endOf(this.#windows - 1)) this.#close();
  }

  /**
   * The peaks of `count` groups of windows, the first of which starts at the window `from`.
   * @param group windows that become one pair
   */
  read(from: number, count: number, group: number): LanePeaks {
    const caller = new Int8Array(2 * count);
    const assistant = new Int8Array(2 * count);
    for (let index = 0; index < count; index++) {
      const first = from + index * group;
      const windows = this.#values.subarray(VALUES * first, VALUES * Math.min(first + group, this.#windows));
      for (let at = 0; at < windows.length; at += VALUES) {
        caller[2 * index] = Math.min(caller[2 * index] ?? 0, windows[at] ?? 0);
        caller[2 * index + 1] = Math.max(caller[2 * index + 1] ?? 0, windows[at + 1] ?? 0);
        assistant[2 * index] = Math.min(assistant[2 * index] ?? 0, windows[at + 2] ?? 0);
        assistant[2 * index + 1] = Math.max(assistant[2 * index + 1] ?? 0, windows[at + 3] ?? 0);
      }
    }
    return { caller, assistant };
  }

  #endOf(window: number): number {
    return Math.round(((window + 1) * PEAK_MS * this.#sampleRate) / 1000);
  }

  #close(): void {
    if ((this.#windows + 1) * VALUES > this.#values.length) {
      const larger = new Int8Array(2 * this.#values.length);
      larger.set(this.#values);
      this.#values = larger;
    }
    const at = this.#windows * VALUES;
    this.#values[at] = this.#callerLow >> 8;
    this.#values[at + 1] = highPeak(this.#callerHigh);
    this.#values[at + 2] = this.#assistantLow >> 8;
    this.#values[at + 3] = highPeak(this.#assistantHigh);
    this.#callerLow = this.#callerHigh = this.#assistantLow = this.#assistantHigh = 0;
    this.#windows += 1;
    this.#windowEnd = this.#endOf(this.#windows);
  }
}

/** Rounded away from zero, as the lowest is by its shift: only digital silence is shown as silence. */
function highPeak(sample: number): number {
  return Math.min(127, (sample + 255) >> 8);
}

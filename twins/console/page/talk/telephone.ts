/**
 * What the audio thread does, without the browser: cuts the microphone into frames of a telephone line, and plays what
 * comes back. Where the device has another rate than the call, both ways are resampled.
 */
import { createResampler, type Resampler } from "@offhook/audio/resample";
import { applyGain, CALLER_RATE, clampSample, FRAME_MS, mix, msToSamples } from "@offhook/audio/signal";
import { JitterBuffer } from "./jitter-buffer.ts";

export const FRAME_SAMPLES = msToSamples(FRAME_MS, CALLER_RATE);
/** Audio of the call that is made into audio of the device at a time. */
const PLAYED_SAMPLES = 120;
const FULL_SCALE = 32_768;
/** A sample that is said is played here too, more softly than the assistant. */
const MONITOR_GAIN_DB = -12;

/** 20 ms of both sides. */
export interface Frame {
  /** What the caller says, to be sent. */
  said: Int16Array<ArrayBuffer>;
  /** Largest amplitude of either side, from 0 to 1. */
  saidPeak: number;
  heardPeak: number;
  /** The sample that was being said ended with this frame. */
  endsSample: boolean;
  /** Audio that waits to be played. */
  queuedSamples: number;
}

export type MicrophoneState = "open" | "muted";

export class Telephone {
  readonly #fromDevice: Resampler;
  readonly #toDevice: Resampler;
  readonly #heard = new JitterBuffer();
  readonly #monitor = new JitterBuffer();
  readonly #capture = new Queue();
  readonly #playback = new Queue();
  #microphone: MicrophoneState = "open";
  #sample: Int16Array | undefined;
  #heardPeak = 0;

  /** @param deviceRate sample rate of the audio context, in Hz */
  constructor(deviceRate: number) {
    this.#fromDevice = createResampler(deviceRate, CALLER_RATE);
    this.#toDevice = createResampler(CALLER_RATE, deviceRate);
  }

  /** Queues audio of the assistant. */
  play(samples: Int16Array): void {
    this.#heard.push(samples);
  }

  /** Says a recording from the next frame on, instead of the microphone and of a recording that is being said. */
  say(samples: Int16Array): void {
    this.#monitor.clear();
    this.#sample = samples;
  }

  setMicrophone(state: MicrophoneState): void {
    this.#microphone = state;
  }

  /** Whether everything was played. */
  get isSilent(): boolean {
    return this.#heard.queuedSamples === 0;
  }

  /**
   * One step of the device.
   * @param input of the microphone; absent without one, and then as long as the output
   * @returns frames that are complete by now
   */
  process(input: Float32Array | undefined, output: Float32Array): Frame[] {
    this.#renderInto(output);
    const samples = new Int16Array(input?.length ?? output.length);
    if (input && this.#microphone === "open") {
      for (let at = 0; at < samples.length; at++) samples[at] = clampSample((input[at] ?? 0) * FULL_SCALE);
    }
    this.#capture.push(this.#fromDevice.push(samples));
    const frames: Frame[] = [];
    while (this.#capture.length >= FRAME_SAMPLES) {
      const spoken = new Int16Array(FRAME_SAMPLES);
      this.#capture.pull(spoken);
      frames.push(this.#frameOf(spoken));
    }
    return frames;
  }

  #frameOf(spoken: Int16Array<ArrayBuffer>): Frame {
    const said = this.#nextOfSample() ?? spoken;
    const frame = {
      said,
      saidPeak: peakOf(said),
      heardPeak: this.#heardPeak,
      endsSample: said !== spoken && this.#sample === undefined,
      queuedSamples: this.#heard.queuedSamples,
    };
    this.#heardPeak = 0;
    return frame;
  }

  #nextOfSample(): Int16Array<ArrayBuffer> | undefined {
    const sample = this.#sample;
    if (sample === undefined) return undefined;
    const said = new Int16Array(FRAME_SAMPLES);
    said.set(sample.subarray(0, FRAME_SAMPLES));
    this.#sample = sample.length > FRAME_SAMPLES ? sample.subarray(FRAME_SAMPLES) : undefined;
    this.#monitor.push(applyGain(said, MONITOR_GAIN_DB));
    return said;
  }

  #renderInto(output: Float32Array): void {
    const heard = new Int16Array(PLAYED_SAMPLES);
    const monitored = new Int16Array(PLAYED_SAMPLES);
    while (this.#playback.length < output.length) {
      this.#heard.pull(heard);
      this.#heardPeak = Math.max(this.#heardPeak, peakOf(heard));
      const both = this.#monitor.pull(monitored) > 0 ? mix(heard, monitored) : heard;
      this.#playback.push(this.#toDevice.push(both));
    }
    const samples = new Int16Array(output.length);
    this.#playback.pull(samples);
    for (let at = 0; at < output.length; at++) output[at] = (samples[at] ?? 0) / FULL_SCALE;
  }
}

/** Samples that wait for a whole frame, or for the device's next step: a few milliseconds of them. */
class Queue {
  #waiting = new Int16Array(0);

  get length(): number {
    return this.#waiting.length;
  }

  push(samples: Int16Array): void {
    const joined = new Int16Array(this.#waiting.length + samples.length);
    joined.set(this.#waiting);
    joined.set(samples, this.#waiting.length);
    this.#waiting = joined;
  }

  /** Takes as many samples as fit; there must be as many. */
  pull(into: Int16Array): void {
    into.set(this.#waiting.subarray(0, into.length));
    this.#waiting = this.#waiting.slice(into.length);
  }
}

function peakOf(samples: Int16Array): number {
  let peak = 0;
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  return peak / FULL_SCALE;
}

/** What was sent in a call, so that a turn of it can be kept as a sample. */
import { trimEdges } from "@offhook/audio/sample-shape";
import { CALLER_RATE, concatSamples, msToSamples, samplesToMs } from "@offhook/audio/signal";
import { FRAME_SAMPLES } from "./telephone.ts";

/** Of a longer call only the end is kept: 29 MB. */
const MAX_KEPT_MS = 600_000;
/** Samples that were said, of which the oldest are forgotten. */
const MAX_SAID = 200;
/** A turn is noted when the voice was detected, a little after its first and last sound. */
const MARGIN_MS = 300;

export class SentAudio {
  readonly #frames: Int16Array[] = [];
  #kept = 0;
  /** Samples that were sent before the first one that is kept. */
  #forgotten = 0;
  /** When samples were said, in the call's time; the last one may not have ended. */
  readonly #said: { startMs: number; endMs: number }[] = [];

  push(frame: Int16Array): void {
    this.#frames.push(frame);
    this.#kept += frame.length;
    if (this.#kept <= msToSamples(MAX_KEPT_MS, CALLER_RATE)) return;
    const oldest = this.#frames.shift()?.length ?? 0;
    this.#kept -= oldest;
    this.#forgotten += oldest;
  }

  /** A sample is said from the next frame on, instead of one that is being said. */
  beginSample(): void {
    this.endSample();
    this.#said.push({ startMs: this.#sentMs, endMs: Number.POSITIVE_INFINITY });
    if (this.#said.length > MAX_SAID) this.#said.shift();
  }

  endSample(): void {
    const last = this.#said.at(-1);
    if (last) last.endMs = Math.min(last.endMs, this.#sentMs);
  }

  /** Whether most of a turn was a sample. Positions are in the call's time. */
  isSample(startMs: number, endMs: number): boolean {
    const shared = this.#said.map((said) => Math.min(endMs, said.endMs) - Math.max(startMs, said.startMs));
    return shared.filter((ms) => ms > 0).reduce((sum, ms) => sum + ms, 0) > (endMs - startMs) / 2;
  }

  get #sentMs(): number {
    return samplesToMs(this.#forgotten + this.#kept, CALLER_RATE);
  }

  /** A turn's audio without the silence around it; empty when it is no longer kept. Positions are in the call's time. */
  cut(startMs: number, endMs: number): Int16Array {
    const from = Math.max(0, msToSamples(startMs - MARGIN_MS, CALLER_RATE) - this.#forgotten);
    const to = Math.max(0, msToSamples(endMs + MARGIN_MS, CALLER_RATE) - this.#forgotten);
    const frames = this.#frames.slice(Math.floor(from / FRAME_SAMPLES), Math.ceil(to / FRAME_SAMPLES));
    return trimEdges(concatSamples(...frames)).slice();
  }
}

/**
 * Jitter buffer of the assistant's voice, at the call's rate. It keeps the delay low: silence, of which agents send a
 * second or two in one burst after each turn, never makes what follows it late.
 */
import { CALLER_RATE, msToSamples } from "@offhook/audio/signal";

/** Audio that waits before playing begins; grows when that was too little. */
const FIRST_DELAY_MS = 60;
const MAX_DELAY_MS = 200;
const DELAY_STEP_MS = 20;
/** Longest silence that is kept while sound is waiting before it: the pause of a sentence. */
const MAX_PAUSE_MS = 500;
/** A gap in sound that lasts no longer was a late packet. */
const LATE_PACKET_MS = 400;
/** The oldest audio is dropped above this. */
const MAX_QUEUED_MS = 30_000;

const samplesOf = (ms: number): number => msToSamples(ms, CALLER_RATE);

export class JitterBuffer {
  readonly #chunks: Int16Array[] = [];
  #queued = 0;
  /** Samples at the queue's end that are digital silence. */
  #silentEnd = 0;
  #delay = samplesOf(FIRST_DELAY_MS);
  #isPlaying = false;
  /** Samples since playing stopped in the middle of sound, and since the first audio that waits came. */
  #sinceStopped = Number.POSITIVE_INFINITY;
  #waited = 0;

  get queuedSamples(): number {
    return this.#queued;
  }

  /** Queues audio; the buffer keeps the array. */
  push(samples: Int16Array): void {
    const lastSound = samples.findLastIndex((sample) => sample !== 0);
    if (lastSound < 0) {
      this.#pushSilence(samples);
      return;
    }
    if (this.#queued > 0 && this.#silentEnd === this.#queued) this.#drop(this.#queued - this.#delay);
    if (!this.#isPlaying && this.#sinceStopped < samplesOf(LATE_PACKET_MS)) this.#growDelay();
    this.#append(samples);
    this.#silentEnd = samples.length - 1 - lastSound;
    this.#drop(this.#queued - samplesOf(MAX_QUEUED_MS));
  }

  /** Takes the next audio; silence where there is none yet. @returns the samples of it that were queued */
  pull(into: Int16Array): number {
    into.fill(0);
    this.#beginWhenReady(into.length);
    if (!this.#isPlaying) {
      this.#sinceStopped += into.length;
      return 0;
    }
    let at = 0;
    while (at < into.length) {
      const [chunk] = this.#chunks;
      if (chunk === undefined) break;
      const part = chunk.subarray(0, into.length - at);
      into.set(part, at);
      at += part.length;
      this.#consume(chunk, part.length);
    }
    if (this.#queued === 0) {
      this.#isPlaying = false;
      // Where silence came last, nothing is missing.
      const endedInSound = into.some((sample) => sample !== 0);
      this.#sinceStopped = endedInSound ? 0 : Number.POSITIVE_INFINITY;
    }
    return at;
  }

  /** Discards everything. */
  clear(): void {
    this.#drop(this.#queued);
  }

  #beginWhenReady(samples: number): void {
    if (this.#isPlaying || this.#queued === 0) return;
    this.#waited += samples;
    if (this.#queued < this.#delay && this.#waited <= this.#delay) return;
    this.#isPlaying = true;
    this.#waited = 0;
  }

  #pushSilence(samples: Int16Array): void {
    const room = samplesOf(MAX_PAUSE_MS) - this.#silentEnd;
    if (room <= 0) return;
    const part = samples.subarray(0, room);
    this.#append(part);
    this.#silentEnd += part.length;
  }

  #growDelay(): void {
    this.#delay = Math.min(this.#delay + samplesOf(DELAY_STEP_MS), samplesOf(MAX_DELAY_MS));
    this.#sinceStopped = Number.POSITIVE_INFINITY;
  }

  #append(samples: Int16Array): void {
    this.#chunks.push(samples);
    this.#queued += samples.length;
  }

  #consume(chunk: Int16Array, samples: number): void {
    if (samples === chunk.length) this.#chunks.shift();
    else this.#chunks[0] = chunk.subarray(samples);
    this.#queued -= samples;
    this.#silentEnd = Math.min(this.#silentEnd, this.#queued);
  }

  /** Drops the oldest samples. */
  #drop(samples: number): void {
    for (let left = samples; left > 0; ) {
      const [chunk] = this.#chunks;
      if (chunk === undefined) return;
      const part = Math.min(left, chunk.length);
      this.#consume(chunk, part);
      left -= part;
    }
  }
}

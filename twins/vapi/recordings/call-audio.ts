/**
 * The audio of one call as it passes: what the client sends and what it receives, side by side on the call's media time,
 * both at the client's own rate. Left is the caller, right the assistant.
 *
 * The caller's audio is queued here as in the media clock, so that each tick moves the same 10 ms on both. The assistant's
 * audio leaves up to 50 ms after it was played and is put where it was played; a block is therefore handed on 10 ms after
 * the burst in which the last of it left.
 */
import { samplesToMs } from "@offhook/audio/pcm";
import { INTERNAL_RATE } from "../providers/provider.ts";
import type { AudioTap } from "../session/contract.ts";
import { BURST_MS } from "../session/downlink.ts";
import { TICK_MS } from "../session/media-clock.ts";

/** Samples of both sides in turn, left first. */
export const LANES = 2;
const TICKS_A_BLOCK = BURST_MS / TICK_MS;
/** What a resampler holds back at the end of a burst is shorter than this at any rate. */
const LATE_TICKS = 1;

/** Takes a call's audio, block by block. */
export interface AudioSink {
  /** Takes the next samples of both sides, interleaved. The array is reused: copy what is to be kept. */
  take(stereo: Int16Array): void;
  /** The call is over. */
  end(): void;
}

export class CallAudio implements AudioTap {
  readonly sampleRate: number;
  readonly #sinks = new Set<AudioSink>();
  /** Samples of each side that no sink has yet, interleaved, from the position `#handedOn`. */
  readonly #window: Int16Array;
  #handedOn = 0;
  #ticks = 0;
  #queue: Int16Array[] = [];
  #queuedSamples = 0;
  /** Length of each side, in samples. */
  #caller = 0;
  #assistant = 0;
  /** Silence and dropped audio of the media clock so far, and how much of both this side of the rates has. */
  #filled = { internal: 0, samples: 0 };
  #dropped = { internal: 0, samples: 0 };
  #ended = false;

  constructor(sampleRate: number) {
    this.sampleRate = sampleRate;
    this.#window = new Int16Array(LANES * this.#positionOf(2 * TICKS_A_BLOCK + 2 * LATE_TICKS));
  }

  /** Hands the audio from now on to `sink`. @returns stops that */
  add(sink: AudioSink): () => void {
    if (this.#ended) sink.end();
    else this.#sinks.add(sink);
    return () => this.#sinks.delete(sink);
  }

  receive(samples: Int16Array): void {
    if (this.#ended || samples.length === 0) return;
    this.#queue.push(samples);
    this.#queuedSamples += samples.length;
  }

  fill(internalSamples: number): void {
    this.receive(new Int16Array(this.#convert(this.#filled, internalSamples)));
  }

  drop(internalSamples: number): void {
    this.#take(this.#convert(this.#dropped, internalSamples), () => {});
  }

  play(samples: Int16Array, endMs: number): void {
    if (this.#ended) return;
    const length = samples.length;
    const wanted = Math.round((endMs * this.sampleRate) / 1000) - length;
    // At a rate with a fraction of a sample in 10 ms, rounding must not open or close a gap inside speech.
    const start = Math.abs(wanted - this.#assistant) <= 1 ? this.#assistant : wanted;
    const from = Math.max(start, this.#assistant, this.#handedOn);
    const at = from - this.#handedOn;
    for (let index = 0; index < length; index++) this.#window[LANES * (at + index) + 1] = samples[index] ?? 0;
    this.#assistant = from + length;
  }

  tick(): void {
    if (this.#ended) return;
    this.#ticks += 1;
    this.#advanceCaller(this.#positionOf(this.#ticks));
    if (this.#ticks % TICKS_A_BLOCK === 0) this.#handOn(this.#positionOf(this.#ticks - LATE_TICKS));
  }

  /** Hands on the rest, with the audio that was received and not heard any more. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const room = this.#window.length / LANES;
    while (this.#queuedSamples > 0) {
      this.#advanceCaller(Math.min(this.#handedOn + room, this.#caller + this.#queuedSamples));
      this.#handOn(this.#caller);
    }
    this.#handOn(Math.max(this.#caller, this.#assistant));
    for (const sink of this.#sinks) sink.end();
    this.#sinks.clear();
  }

  #positionOf(ticks: number): number {
    return Math.round((ticks * TICK_MS * this.sampleRate) / 1000);
  }

  /** Samples at the client's rate for so many more at the internal one, without drift. */
  #convert(total: { internal: number; samples: number }, internalSamples: number): number {
    total.internal += internalSamples;
    const before = total.samples;
    total.samples = Math.round((samplesToMs(total.internal, INTERNAL_RATE) * this.sampleRate) / 1000);
    return total.samples - before;
  }

  /** Moves the caller's queued audio into the window, up to a position. */
  #advanceCaller(until: number): void {
    let at = LANES * (this.#caller - this.#handedOn);
    this.#take(until - this.#caller, (piece) => {
      for (const sample of piece) {
        this.#window[at] = sample;
        at += LANES;
      }
    });
    this.#caller = until;
  }

  /** Removes samples from the head of the queue. */
  #take(samples: number, use: (piece: Int16Array) => void): void {
    for (let missing = samples; missing > 0; ) {
      const [head] = this.#queue;
      if (head === undefined) return;
      const piece = head.subarray(0, missing);
      use(piece);
      missing -= piece.length;
      this.#queuedSamples -= piece.length;
      if (piece.length === head.length) this.#queue.shift();
      else this.#queue[0] = head.subarray(piece.length);
    }
  }

  /** Hands the window up to a position to the sinks, and moves the rest to its start. */
  #handOn(until: number): void {
    const length = LANES * (until - this.#handedOn);
    if (length <= 0) return;
    const block = this.#window.subarray(0, length);
    for (const sink of this.#sinks) sink.take(block);
    this.#window.copyWithin(0, length);
    this.#window.fill(0, this.#window.length - length);
    this.#handedOn = until;
    this.#assistant = Math.max(this.#assistant, until);
  }
}

/**
 * The time of a call, counted in samples. The caller's audio advances it, 10 ms at a time; when no audio comes for
 * longer than a frame can last, the wall clock advances it with silence. The call is therefore the same at any speed and
 * for any chunking of the audio.
 *
 * Providers work in wall time, so their latency would cost a fast call more media time than a slow one. The clock can
 * therefore be held (`hold`) while the call needs an answer: audio queues up. A hold expires once a second of audio
 * waits, so that a slow provider delays the call and does not stop it.
 */
import { concatSamples, msToSamples, samplesToMs } from "@offhook/audio/pcm";
import { INTERNAL_RATE } from "../providers/provider.ts";

export const TICK_MS = 10;
export const TICK_SAMPLES = msToSamples(TICK_MS, INTERNAL_RATE);
/** 10 ms of silence; shared, so never written to. */
export const SILENT_TICK = new Int16Array(TICK_SAMPLES);

/** Without audio for this long after the start, the wall clock takes over: the caller may wait for the greeting. */
const SILENT_START_MS = 500;
/** The same after the first audio: frames last up to 1 s and may be 0.5 s late. */
const SILENT_LINE_MS = 1_500;
const SILENT_LINE_STEP_MS = 20;
/** A timer that is later than this means that the process cannot keep up. */
const STALL_MS = 100;
/** Maximum silence the wall clock adds at once, after a stall of the process. */
const MAX_CATCH_UP_MS = 1_000;
/** A hold expires once this much audio waits … */
const MAX_LAG_SAMPLES = msToSamples(1_000, INTERNAL_RATE);
/** … and it has lasted this long: audio may arrive all at once, before any provider could answer. */
const MIN_HOLD_MS = 30;
/** High and low watermark of the queue: the caller is paused at the first and resumed at the second. */
const FULL_SAMPLES = msToSamples(5_000, INTERNAL_RATE);
const ROOM_SAMPLES = msToSamples(2_000, INTERNAL_RATE);
/** Queued audio beyond this (one huge message can hold it) is dropped, oldest first. */
const MAX_QUEUE_SAMPLES = msToSamples(120_000, INTERNAL_RATE);

export interface MediaClockEvents {
  /** The caller's next `TICK_SAMPLES`. */
  onTick(frame: Int16Array): void;
  /** The queue is above its high watermark: stop reading. */
  onFull(): void;
  /** The queue is below its low watermark: read on. */
  onRoom(): void;
  /** The queue overflowed, and this many samples were dropped. */
  onDrop(samples: number): void;
  /** So many samples of silence stand in for audio that did not come. */
  onFill(samples: number): void;
  /** No audio came for this long; silence replaces it until more comes. */
  onSilence(withoutAudioMs: number): void;
}

/** A reason to hold the clock; `applies` is evaluated before each tick. */
export interface Hold {
  applies(): boolean;
}

interface HoldState {
  /** Wall time since which it applies. */
  sinceMs: number | undefined;
  expired: boolean;
}

export class MediaClock {
  readonly #events: MediaClockEvents;
  readonly #holds = new Map<Hold, HoldState>();
  #queue: Int16Array[] = [];
  #queuedSamples = 0;
  #playedSamples = 0;
  #draining = false;
  #full = false;
  #stopped = false;
  #lastAudioAt = 0;
  #silentAfterMs = SILENT_START_MS;
  #lineTimer: NodeJS.Timeout | undefined;
  #holdTimer: NodeJS.Timeout | undefined;
  #holdCheck: NodeJS.Immediate | undefined;
  #filling: { timer: NodeJS.Timeout; lastAt: number } | undefined;

  constructor(events: MediaClockEvents) {
    this.#events = events;
  }

  /** Position of the call, in milliseconds of processed audio. */
  get nowMs(): number {
    return samplesToMs(this.#playedSamples, INTERNAL_RATE);
  }

  /** Position of the caller: `nowMs` plus the queued audio. */
  get receivedMs(): number {
    return samplesToMs(this.#playedSamples + this.#queuedSamples, INTERNAL_RATE);
  }

  start(): void {
    this.#lastAudioAt = performance.now();
    this.#watchLine(this.#silentAfterMs);
  }

  /** Stops for good: clears timers and the queue. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#lineTimer);
    clearTimeout(this.#holdTimer);
    clearImmediate(this.#holdCheck);
    this.#stopFilling();
    this.#queue = [];
    this.#queuedSamples = 0;
    this.#holds.clear();
  }

  /** Takes the caller's next audio, at `INTERNAL_RATE`. */
  receive(audio: Int16Array): void {
    if (this.#stopped || audio.length === 0) return;
    this.#lastAudioAt = performance.now();
    this.#silentAfterMs = SILENT_LINE_MS;
    this.#stopFilling();
    this.#enqueue(audio);
  }

  /** Holds the clock while `hold` applies. @returns releases the hold; call `resume` afterwards */
  hold(hold: Hold): () => void {
    this.#holds.set(hold, { sinceMs: undefined, expired: false });
    return () => {
      this.#holds.delete(hold);
    };
  }

  /** Processes queued audio, unless a hold still applies. */
  resume(): void {
    this.#drain();
  }

  #enqueue(audio: Int16Array): void {
    this.#queue.push(audio);
    this.#queuedSamples += audio.length;
    this.#drain();
    this.#dropOverflow();
    if (!this.#full && this.#queuedSamples > FULL_SAMPLES) {
      this.#full = true;
      this.#events.onFull();
    }
  }

  #drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    while (!this.#stopped && this.#queuedSamples >= TICK_SAMPLES && !this.#isHeld()) {
      const frame = this.#takeFrame();
      this.#playedSamples += TICK_SAMPLES;
      this.#events.onTick(frame);
    }
    this.#draining = false;
    if (this.#full && !this.#stopped && this.#queuedSamples < ROOM_SAMPLES) {
      this.#full = false;
      this.#events.onRoom();
    }
  }

  #isHeld(): boolean {
    for (const [hold, state] of this.#holds) {
      if (!hold.applies()) {
        state.sinceMs = undefined;
        state.expired = false;
        continue;
      }
      state.sinceMs ??= performance.now();
      if (state.expired) continue;
      if (this.#queuedSamples >= MAX_LAG_SAMPLES) this.#scheduleHoldTimeout();
      return true;
    }
    return false;
  }

  /**
   * Expires holds by a timer, and only after answers that have already arrived were processed (`setImmediate`): time in
   * which the process was busy with a burst of audio, or starved of CPU, is no provider's delay. A timer is needed
   * because a paused caller sends nothing that would resume the clock.
   */
  #scheduleHoldTimeout(): void {
    this.#holdTimer ??= setTimeout(() => {
      this.#holdCheck = setImmediate(() => {
        this.#holdTimer = undefined;
        this.#expireHolds();
        this.#drain();
      });
    }, MIN_HOLD_MS);
  }

  #expireHolds(): void {
    if (this.#queuedSamples < MAX_LAG_SAMPLES) return;
    const before = performance.now() - MIN_HOLD_MS;
    for (const state of this.#holds.values()) {
      if (state.sinceMs !== undefined && state.sinceMs <= before) state.expired = true;
    }
  }

  #takeFrame(): Int16Array {
    const [first] = this.#queue;
    if (first !== undefined && first.length >= TICK_SAMPLES) {
      this.#advance(first, TICK_SAMPLES);
      return first.subarray(0, TICK_SAMPLES);
    }
    const parts: Int16Array[] = [];
    for (let missing = TICK_SAMPLES; missing > 0; ) {
      const [next] = this.#queue;
      if (next === undefined) break;
      const part = next.subarray(0, missing);
      parts.push(part);
      missing -= part.length;
      this.#advance(next, part.length);
    }
    return concatSamples(...parts);
  }

  /** Removes `samples` from the head of the queue. */
  #advance(head: Int16Array, samples: number): void {
    this.#queuedSamples -= samples;
    if (samples === head.length) this.#queue.shift();
    else this.#queue[0] = head.subarray(samples);
  }

  #dropOverflow(): void {
    let dropped = 0;
    while (this.#queuedSamples > MAX_QUEUE_SAMPLES) {
      const [oldest] = this.#queue;
      if (oldest === undefined) break;
      const excess = Math.min(oldest.length, this.#queuedSamples - MAX_QUEUE_SAMPLES);
      this.#advance(oldest, excess);
      dropped += excess;
    }
    if (dropped > 0) this.#events.onDrop(dropped);
  }

  #watchLine(afterMs: number): void {
    const dueAt = performance.now() + afterMs;
    this.#lineTimer = setTimeout(() => {
      // A timer this late means that the process stalled: the gap was not the caller's silence.
      if (performance.now() - dueAt > STALL_MS) this.#lastAudioAt = performance.now();
      // Sockets are read after timers, so check the line once the audio that arrived meanwhile has been read.
      setImmediate(() => this.#checkLine());
    }, afterMs);
  }

  #checkLine(): void {
    if (this.#stopped) return;
    const quietMs = performance.now() - this.#lastAudioAt;
    const quiet = quietMs >= this.#silentAfterMs;
    if (quiet && !this.#full) this.#startFilling();
    this.#watchLine(quiet ? this.#silentAfterMs : this.#silentAfterMs - quietMs);
  }

  #startFilling(): void {
    if (this.#filling !== undefined || this.#stopped) return;
    const timer = setInterval(() => this.#fill(), SILENT_LINE_STEP_MS);
    this.#filling = { timer, lastAt: performance.now() };
    this.#events.onSilence(this.#silentAfterMs);
  }

  #stopFilling(): void {
    clearInterval(this.#filling?.timer);
    this.#filling = undefined;
  }

  #fill(): void {
    if (this.#filling === undefined) return;
    const elapsedMs = performance.now() - this.#filling.lastAt;
    const wholeMs = Math.floor(elapsedMs);
    this.#filling.lastAt += wholeMs;
    const silence = new Int16Array(msToSamples(Math.min(wholeMs, MAX_CATCH_UP_MS), INTERNAL_RATE));
    this.#events.onFill(silence.length);
    this.#enqueue(silence);
  }
}

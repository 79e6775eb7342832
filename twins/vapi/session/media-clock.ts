/**
 * The time of a call, counted in samples. It advances by the caller's audio, 10 ms at a time; only when none has come
 * for longer than a frame lasts does the wall clock go on in its place, by silence. Whatever the speed and the lumps the
 * audio comes in, the call is the same.
 *
 * A provider works in wall time, so its latency would be worth more of a fast call than of a slow one. Therefore the
 * clock may stand still while the call cannot go on without an answer (`hold`): audio waits in a queue. Never until more
 * than a second of it waits, so that a slow provider delays the call and does not stop it.
 */
import { concatSamples, msToSamples, samplesToMs } from "@offhook/audio/pcm";
import { INTERNAL_RATE } from "../providers/provider.ts";

export const TICK_MS = 10;
export const TICK_SAMPLES = msToSamples(TICK_MS, INTERNAL_RATE);
/** 10 ms of nothing; not to be written to. */
export const SILENT_TICK = new Int16Array(TICK_SAMPLES);

/** Without any audio for so long after the start, the wall clock takes over: the caller may wait to be greeted. */
const SILENT_START_MS = 500;
/** Once audio has come, a pause so long is silence: frames have up to a second, and may be late by half of one. */
const SILENT_LINE_MS = 1_500;
const SILENT_LINE_STEP_MS = 20;
/** Timers are late by some milliseconds; by more than this only when the process cannot keep up. */
const STALL_MS = 100;
/** After a stall of the process the wall clock does not make up for more than this at once. */
const MOST_CATCH_UP_MS = 1_000;
/** With so much audio waiting, the clock no longer stands still for an answer … */
const LONGEST_LAG_SAMPLES = msToSamples(1_000, INTERNAL_RATE);
/** … that has had this long to come: audio may arrive all at once, before anybody could answer. */
const SHORTEST_HOLD_MS = 30;
/** When so much waits the caller is to stop sending, and may go on when so little is left. */
const FULL_SAMPLES = msToSamples(5_000, INTERNAL_RATE);
const ROOM_SAMPLES = msToSamples(2_000, INTERNAL_RATE);
/** Audio that waits beyond this (one huge message can hold it) is dropped, oldest first. */
const LONGEST_QUEUE_SAMPLES = msToSamples(120_000, INTERNAL_RATE);

export interface MediaClockEvents {
  /** The next `TICK_SAMPLES` of what the caller sends. */
  onTick(frame: Int16Array): void;
  /** Audio comes faster than it can be worked on: no more of it now. */
  onFull(): void;
  /** More may come. */
  onRoom(): void;
  /** So many samples were lost all the same. */
  onDrop(samples: number): void;
  /** No audio has come for so long: from now on silence takes its place, until more comes. */
  onSilence(withoutAudioMs: number): void;
}

/** Why the clock may stand still. `applies` is asked anew each time. */
export interface Hold {
  applies(): boolean;
}

interface HoldState {
  /** When it began to apply, by the wall clock. */
  sinceMs: number | undefined;
  overdue: boolean;
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
  #watch: NodeJS.Timeout | undefined;
  #lookAgain: NodeJS.Timeout | undefined;
  #afterAnswers: NodeJS.Immediate | undefined;
  #filling: { timer: NodeJS.Timeout; lastAt: number } | undefined;

  constructor(events: MediaClockEvents) {
    this.#events = events;
  }

  /** Position of the call, in milliseconds of audio worked on. */
  get nowMs(): number {
    return samplesToMs(this.#playedSamples, INTERNAL_RATE);
  }

  /** Position of the caller: `nowMs` plus what waits in the queue. */
  get receivedMs(): number {
    return samplesToMs(this.#playedSamples + this.#queuedSamples, INTERNAL_RATE);
  }

  start(): void {
    this.#lastAudioAt = performance.now();
    this.#watchLine(this.#silentAfterMs);
  }

  /** Stops for good: timers are gone, queued audio is forgotten. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#watch);
    clearTimeout(this.#lookAgain);
    clearImmediate(this.#afterAnswers);
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

  /** The clock may stand still for `hold` until the returned function is called; `resume` then sets it going. */
  hold(hold: Hold): () => void {
    this.#holds.set(hold, { sinceMs: undefined, overdue: false });
    return () => {
      this.#holds.delete(hold);
    };
  }

  /** Goes on where a hold no longer applies. */
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
        state.overdue = false;
        continue;
      }
      state.sinceMs ??= performance.now();
      if (state.overdue) continue;
      if (this.#queuedSamples >= LONGEST_LAG_SAMPLES) this.#lookAgainLater();
      return true;
    }
    return false;
  }

  /**
   * Only a timer ends a wait, and only once answers that are there have been taken in: what happens while the process
   * is busy with a burst of audio, or not given the processor, is nobody's delay. A caller who was told to stop sends
   * nothing that would set the clock going again.
   */
  #lookAgainLater(): void {
    this.#lookAgain ??= setTimeout(() => {
      this.#afterAnswers = setImmediate(() => {
        this.#lookAgain = undefined;
        this.#waitNoLonger();
        this.#drain();
      });
    }, SHORTEST_HOLD_MS);
  }

  #waitNoLonger(): void {
    if (this.#queuedSamples < LONGEST_LAG_SAMPLES) return;
    const before = performance.now() - SHORTEST_HOLD_MS;
    for (const state of this.#holds.values()) {
      if (state.sinceMs !== undefined && state.sinceMs <= before) state.overdue = true;
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

  /** Takes `samples` off the head of the queue. */
  #advance(head: Int16Array, samples: number): void {
    this.#queuedSamples -= samples;
    if (samples === head.length) this.#queue.shift();
    else this.#queue[0] = head.subarray(samples);
  }

  #dropOverflow(): void {
    let dropped = 0;
    while (this.#queuedSamples > LONGEST_QUEUE_SAMPLES) {
      const [oldest] = this.#queue;
      if (oldest === undefined) break;
      const excess = Math.min(oldest.length, this.#queuedSamples - LONGEST_QUEUE_SAMPLES);
      this.#advance(oldest, excess);
      dropped += excess;
    }
    if (dropped > 0) this.#events.onDrop(dropped);
  }

  #watchLine(afterMs: number): void {
    const dueAt = performance.now() + afterMs;
    this.#watch = setTimeout(() => {
      // A timer so late says that the process stood still and nobody was listening: that was no silence of the caller's.
      if (performance.now() - dueAt > STALL_MS) this.#lastAudioAt = performance.now();
      // What arrived meanwhile is read after the timers, so it is only then that the line is judged.
      setImmediate(() => this.#judgeLine());
    }, afterMs);
  }

  #judgeLine(): void {
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
    this.#enqueue(new Int16Array(msToSamples(Math.min(wholeMs, MOST_CATCH_UP_MS), INTERNAL_RATE)));
  }
}

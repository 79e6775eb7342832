/**
 * Paces frames by the wall clock. A 20 ms interval in Node delivers about 92 % of real time, so frames are counted
 * against the clock: a late tick sends every frame that is due. A fast call sends only the latest of them: on a machine
 * that is held up it becomes slower, since audio that nobody has had the time to answer would pass for silence.
 */
import { FRAME_MS } from "@offhook/audio/pcm";

export interface PacerOptions {
  /** How many times faster than real time. */
  speed: number;
  /** Sends one frame; `false`: it could not be sent, and the next tick tries again. */
  sendFrame(): boolean;
  /** Called after each tick. */
  onTick(): void;
  /** Called with the lateness of each frame, and once with that of skipped audio. */
  onFrame?(latenessMs: number): void;
}

/** Timing of the frames, in milliseconds of wall time except for `slippedMs`. */
export interface PacingReport {
  frames: number;
  latenessP50Ms: number;
  latenessP99Ms: number;
  latenessMaxMs: number;
  /** Frames sent more than one frame length late. */
  lateFrames: number;
  /** Audio time skipped because the process was too far behind. */
  slippedMs: number;
  /** The speed achieved. */
  speed: number;
}

/** Frames this late, or so much audio lost, make a call's response times worthless. */
const LATE_MS = 100;
const LOST_MS = 1_000;

/** Whether the machine was too busy for the speed of a call, so that its response times say nothing. */
export function wasHeldUp({ latenessMaxMs, slippedMs }: PacingReport): boolean {
  return latenessMaxMs > LATE_MS || slippedMs > LOST_MS;
}

/** Shorter timers are not worth their cost: several frames go out in one tick instead. */
const MIN_TICK_MS = 2;
/** Maximum audio time to catch up at once in real time; a longer backlog is skipped, and pacing restarts from now. */
const MAX_CATCH_UP_MS = 1_000;
/** The same of a fast call, in which what is longer is skipped: below the silence that ends a turn, there and back. */
const MAX_FAST_CATCH_UP_MS = 200;

export class Pacer {
  readonly #options: PacerOptions;
  readonly #frameWallMs: number;
  readonly #lateness = new LatenessHistogram();
  #timer: NodeJS.Timeout | undefined;
  #startedAt = 0;
  #firstDueAt = 0;
  #sentSinceAnchor = 0;
  #frames = 0;
  #lateFrames = 0;
  #slippedMs = 0;
  #stoppedAt = 0;
  #running = false;

  constructor(options: PacerOptions) {
    this.#options = options;
    this.#frameWallMs = FRAME_MS / options.speed;
  }

  /** The first frame is due at once. */
  start(): void {
    this.#running = true;
    this.#startedAt = performance.now();
    this.#firstDueAt = this.#startedAt;
    this.#tick();
  }

  stop(): void {
    if (!this.#running) return;
    this.#running = false;
    this.#stoppedAt = performance.now();
    clearTimeout(this.#timer);
  }

  report(): PacingReport {
    const wallMs = (this.#running ? performance.now() : this.#stoppedAt) - this.#startedAt;
    return {
      frames: this.#frames,
      latenessP50Ms: this.#lateness.percentile(0.5),
      latenessP99Ms: this.#lateness.percentile(0.99),
      latenessMaxMs: this.#lateness.maxMs,
      lateFrames: this.#lateFrames,
      slippedMs: Math.round(this.#slippedMs),
      speed: wallMs > 0 ? (this.#frames * FRAME_MS) / wallMs : 0,
    };
  }

  #tick(): void {
    this.#skipOverdueFrames();
    while (this.#running && this.#nextDueAt() <= performance.now()) {
      const latenessMs = performance.now() - this.#nextDueAt();
      if (!this.#options.sendFrame()) break;
      this.#lateness.add(latenessMs);
      this.#options.onFrame?.(latenessMs);
      if (latenessMs > FRAME_MS) this.#lateFrames += 1;
      this.#sentSinceAnchor += 1;
      this.#frames += 1;
    }
    this.#options.onTick();
    if (!this.#running) return;
    const waitMs = Math.max(MIN_TICK_MS, this.#nextDueAt() - performance.now());
    this.#timer = setTimeout(() => this.#tick(), waitMs);
  }

  #nextDueAt(): number {
    return this.#firstDueAt + this.#sentSinceAnchor * this.#frameWallMs;
  }

  #skipOverdueFrames(): void {
    const { speed, onFrame } = this.#options;
    const [limitMs, keptMs] = speed > 1 ? [MAX_FAST_CATCH_UP_MS, MAX_FAST_CATCH_UP_MS] : [MAX_CATCH_UP_MS, 0];
    const behindMs = (performance.now() - this.#nextDueAt()) * speed;
    if (behindMs <= limitMs) return;
    this.#slippedMs += behindMs - keptMs;
    onFrame?.(behindMs / speed);
    this.#firstDueAt = performance.now() - keptMs / speed;
    this.#sentSinceAnchor = 0;
  }
}

/** Lateness in buckets of a quarter of a millisecond: percentiles of a call of any length in constant memory. */
class LatenessHistogram {
  static readonly #BUCKET_MS = 0.25;
  static readonly #BUCKETS = 1_000;
  readonly #counts = new Uint32Array(LatenessHistogram.#BUCKETS);
  #total = 0;
  #maxMs = 0;

  add(latenessMs: number): void {
    const bucket = Math.floor(latenessMs / LatenessHistogram.#BUCKET_MS);
    const clamped = Math.min(Math.max(bucket, 0), LatenessHistogram.#BUCKETS - 1);
    this.#counts[clamped] = (this.#counts[clamped] ?? 0) + 1;
    this.#total += 1;
    this.#maxMs = Math.max(this.#maxMs, latenessMs);
  }

  get maxMs(): number {
    return round(this.#maxMs);
  }

  /** Upper bound of the bucket in which the percentile falls. */
  percentile(share: number): number {
    let seen = 0;
    for (const [bucket, count] of this.#counts.entries()) {
      seen += count;
      if (seen >= share * this.#total && seen > 0) {
        return Math.min(round((bucket + 1) * LatenessHistogram.#BUCKET_MS), this.maxMs);
      }
    }
    return 0;
  }
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}

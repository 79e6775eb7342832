/**
 * When the next frames are due. A 20 ms interval of Node delivers about 92 % of real time, so frames are counted
 * against the wall clock: a late tick sends all that has become due meanwhile.
 */
import { FRAME_MS } from "@offhook/audio/pcm";

export interface PacerOptions {
  /** How many times faster than real time. */
  speed: number;
  /** Sends one frame; `false`: it could not be sent and is tried again at the next tick. */
  sendFrame(): boolean;
  /** Called after each tick. */
  ticked(): void;
}

/** How well the frames kept to their time; all in milliseconds of the wall clock, except `slippedMs`. */
export interface PacingReport {
  frames: number;
  latenessP50Ms: number;
  latenessP99Ms: number;
  latenessMaxMs: number;
  /** Frames sent more than one frame's length after they were due. */
  lateFrames: number;
  /** Audio time given up because the process was held up for longer than `MAX_BEHIND_MS` of it. */
  slippedMs: number;
  /** Speed really kept. */
  speed: number;
}

/** Timers below this are not worth their cost; several frames then go out in one tick. */
const MIN_TICK_MS = 2;
/** Audio time that may be caught up in one go. What is beyond is not sent late: the call goes on from now. */
const MAX_BEHIND_MS = 1_000;

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
    this.#giveUpWhatIsTooLate();
    while (this.#running && this.#nextDueAt() <= performance.now()) {
      const latenessMs = performance.now() - this.#nextDueAt();
      if (!this.#options.sendFrame()) break;
      this.#lateness.add(latenessMs);
      if (latenessMs > FRAME_MS) this.#lateFrames += 1;
      this.#sentSinceAnchor += 1;
      this.#frames += 1;
    }
    this.#options.ticked();
    if (!this.#running) return;
    const waitMs = Math.max(MIN_TICK_MS, this.#nextDueAt() - performance.now());
    this.#timer = setTimeout(() => this.#tick(), waitMs);
  }

  #nextDueAt(): number {
    return this.#firstDueAt + this.#sentSinceAnchor * this.#frameWallMs;
  }

  #giveUpWhatIsTooLate(): void {
    const behindMs = (performance.now() - this.#nextDueAt()) * this.#options.speed;
    if (behindMs <= MAX_BEHIND_MS) return;
    this.#slippedMs += behindMs;
    this.#firstDueAt = performance.now();
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
    const kept = Math.min(Math.max(bucket, 0), LatenessHistogram.#BUCKETS - 1);
    this.#counts[kept] = (this.#counts[kept] ?? 0) + 1;
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

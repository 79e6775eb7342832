/**
 * The agent's own limits of a call, as a safety net behind the assistant's limits at the runtime. They bound the cost of a
 * runtime that ignores its limits, or of a caller who forgot to hang up.
 */
import { bytesOf } from "../pcm.ts";

export interface CallLimits {
  /** Longest call, from the caller's connection. */
  maxCallMs: number;
  /** Longest silence of both sides, once the call is connected. */
  maxSilenceMs: number;
}

/** A reached limit: the outcome of the call and the reason for its end. */
export interface ReachedLimit {
  outcome: "max_duration" | "max_silence";
  reason: string;
}

/**
 * Watches one call. Its length is wall time, which is billed. Silence is counted in the caller's samples, whose stream has
 * no gaps (the runtime sends bursts, and only while the assistant speaks), and in wall time while the caller sends no
 * audio.
 */
export class LimitWatch {
  readonly #maxSilenceMs: number;
  readonly #maxSilentBytes: number;
  readonly #onReached: (limit: ReachedLimit) => void;
  readonly #callTimer: NodeJS.Timeout;
  #quietTimer: NodeJS.Timeout | undefined;
  /** When silence was last broken or counted in samples. */
  #countsAt = 0;
  #silentBytes = 0;

  /** @param reached called at most once */
  constructor({ maxCallMs, maxSilenceMs }: CallLimits, onReached: (limit: ReachedLimit) => void) {
    this.#maxSilenceMs = maxSilenceMs;
    this.#maxSilentBytes = bytesOf(maxSilenceMs);
    this.#onReached = (limit) => {
      this.stop();
      onReached(limit);
    };
    this.#callTimer = setTimeout(() => {
      const reason = `the call reached its longest duration, ${seconds(maxCallMs)} (MAX_CALL_MS)`;
      this.#onReached({ outcome: "max_duration", reason });
    }, maxCallMs);
  }

  /** The call is connected: silence counts from here. */
  connected(): void {
    this.#countsAt = performance.now();
    this.#quietTimer = setTimeout(() => this.#checkQuiet(), this.#maxSilenceMs);
  }

  /** One of both sides is audible. @param now of the call's monotonic clock, in milliseconds */
  sound(now: number): void {
    if (this.#quietTimer === undefined) return;
    this.#countsAt = now;
    this.#silentBytes = 0;
  }

  /** The caller sends silence. @param now of the call's monotonic clock, in milliseconds */
  callerSilence(bytes: number, now: number): void {
    if (this.#quietTimer === undefined) return;
    this.#countsAt = now;
    this.#silentBytes += bytes;
    if (this.#silentBytes >= this.#maxSilentBytes) this.#reachSilence();
  }

  stop(): void {
    clearTimeout(this.#callTimer);
    clearTimeout(this.#quietTimer);
    this.#quietTimer = undefined;
  }

  #checkQuiet(): void {
    const leftMs = this.#countsAt + this.#maxSilenceMs - performance.now();
    if (leftMs > 0) this.#quietTimer = setTimeout(() => this.#checkQuiet(), leftMs);
    else this.#reachSilence();
  }

  #reachSilence(): void {
    const reason = `both sides were silent for ${seconds(this.#maxSilenceMs)} (MAX_SILENCE_MS)`;
    this.#onReached({ outcome: "max_silence", reason });
  }
}

function seconds(durationMs: number): string {
  return `${durationMs / 1000} s`;
}

/** Plays a recording; the position is known before there is sound, so that a link to a moment leads there. */
import { type Signal, signal } from "@preact/signals";

export const RATES = [0.5, 0.75, 1, 1.25, 1.5, 2] as const;

export class Player {
  readonly positionMs: Signal<number>;
  readonly isPlaying = signal(false);
  readonly rate = signal(1);
  /** Why there is no sound. */
  readonly problem = signal<string | undefined>(undefined);
  #audio: HTMLAudioElement | undefined;
  #frame = 0;

  constructor(positionMs: number) {
    this.positionMs = signal(positionMs);
  }

  /** @returns lets go of the element */
  attach(audio: HTMLAudioElement): () => void {
    this.#audio = audio;
    const listeners: Record<string, () => void> = {
      play: () => {
        this.isPlaying.value = true;
        this.#follow();
      },
      pause: () => this.#stop(),
      ended: () => this.#stop(),
      ratechange: () => {
        this.rate.value = audio.playbackRate;
      },
      loadedmetadata: () => {
        this.problem.value = undefined;
        audio.playbackRate = this.rate.peek();
        audio.currentTime = this.positionMs.peek() / 1000;
      },
      error: () => {
        this.isPlaying.value = false;
        this.problem.value = "The recording cannot be played: it may have made room for newer calls.";
      },
    };
    for (const [name, listener] of Object.entries(listeners)) audio.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of Object.entries(listeners)) audio.removeEventListener(name, listener);
      audio.pause();
      cancelAnimationFrame(this.#frame);
      this.#audio = undefined;
    };
  }

  seek(ms: number): void {
    this.positionMs.value = Math.max(0, ms);
    if (this.#audio && this.#audio.readyState > 0) this.#audio.currentTime = this.positionMs.peek() / 1000;
  }

  setRate(rate: number): void {
    this.rate.value = rate;
    if (this.#audio) this.#audio.playbackRate = rate;
  }

  async toggle(): Promise<void> {
    const audio = this.#audio;
    if (audio === undefined) return;
    if (!audio.paused) {
      audio.pause();
      return;
    }
    try {
      await audio.play();
    } catch (error) {
      // Another load or a pause came between.
      if (error instanceof DOMException && error.name === "AbortError") return;
      this.problem.value = error instanceof Error ? error.message : String(error);
    }
  }

  #follow(): void {
    cancelAnimationFrame(this.#frame);
    const step = () => {
      if (this.#audio === undefined || !this.isPlaying.peek()) return;
      this.positionMs.value = this.#audio.currentTime * 1000;
      this.#frame = requestAnimationFrame(step);
    };
    this.#frame = requestAnimationFrame(step);
  }

  #stop(): void {
    cancelAnimationFrame(this.#frame);
    this.isPlaying.value = false;
    if (this.#audio) this.positionMs.value = this.#audio.currentTime * 1000;
  }
}

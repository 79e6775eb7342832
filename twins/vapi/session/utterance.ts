/** What the assistant says in one job: sentences in order, their audio as it is synthesised, and how far it was heard. */
import { TICK_SAMPLES } from "./media-clock.ts";

/** Sentences prepared ahead of the one being heard; a model that is faster waits. */
const MOST_AHEAD = 4;

interface Piece {
  text: string;
  /** `undefined` while it is synthesised; empty when that failed. */
  audio: Int16Array | undefined;
  playedSamples: number;
}

export class Utterance {
  readonly #pieces: Piece[] = [];
  /** The piece being heard. */
  #at = 0;
  #complete = false;
  #closed = false;
  #wakeWriter: (() => void) | undefined;

  /** Adds a sentence; answers how to hand in its audio. */
  add(text: string): (audio: Int16Array) => void {
    const piece: Piece = { text, audio: undefined, playedSamples: 0 };
    this.#pieces.push(piece);
    return (audio) => {
      piece.audio = audio;
      this.#skipSpoken();
    };
  }

  /** Number of the sentence being heard, from 0. */
  get sentence(): number {
    return this.#at;
  }

  get pieceCount(): number {
    return this.#pieces.length;
  }

  /** No sentence comes after those added. */
  complete(): void {
    this.#complete = true;
  }

  /** It is over: from now on only what was heard counts as said. */
  close(): void {
    this.#closed = true;
    this.#complete = true;
    this.#wakeWriter?.();
  }

  /** Audio could be played right now. */
  get playable(): boolean {
    return (this.#pieces[this.#at]?.audio?.length ?? 0) > 0;
  }

  /** Everything was played and nothing more comes. */
  get drained(): boolean {
    return this.#complete && this.#at >= this.#pieces.length;
  }

  /** Resolves once another sentence may be added. */
  async room(): Promise<void> {
    while (!this.#closed && this.#pieces.length - this.#at >= MOST_AHEAD) {
      await new Promise<void>((wake) => {
        this.#wakeWriter = wake;
      });
    }
  }

  /** The next 10 ms, filled up with silence where a sentence ends or is late; `undefined` when there is nothing. */
  play(): Int16Array | undefined {
    if (!this.playable) return undefined;
    const frame = new Int16Array(TICK_SAMPLES);
    for (let filled = 0; filled < TICK_SAMPLES && this.playable; ) {
      const piece = this.#pieces[this.#at];
      if (piece?.audio === undefined) break;
      const part = piece.audio.subarray(piece.playedSamples, piece.playedSamples + TICK_SAMPLES - filled);
      frame.set(part, filled);
      filled += part.length;
      piece.playedSamples += part.length;
      this.#skipSpoken();
    }
    return frame;
  }

  /** What was heard so far of the sentences from `from` on (up to `to`), to the last whole word. */
  heard(from = 0, to = Number.POSITIVE_INFINITY): string {
    return joined(this.#pieces.slice(from, to).map(heardOf));
  }

  /** What was said from sentence `from` on: all of it while the job lasts, afterwards what was heard of it. */
  said(from: number, to: number): string {
    return this.#closed ? this.heard(from, to) : joined(this.#pieces.slice(from, to).map(({ text }) => text));
  }

  #skipSpoken(): void {
    const before = this.#at;
    for (let piece = this.#pieces[this.#at]; piece?.audio !== undefined; piece = this.#pieces[this.#at]) {
      if (piece.playedSamples < piece.audio.length) break;
      this.#at += 1;
    }
    if (this.#at !== before) this.#wakeWriter?.();
  }
}

/** The words of a sentence that its played share covers; their lengths stand for their durations. */
function heardOf({ text, audio, playedSamples }: Piece): string {
  if (audio === undefined || audio.length === 0 || playedSamples === 0) return "";
  if (playedSamples >= audio.length) return text;
  const characters = Math.floor((text.length * playedSamples) / audio.length);
  if (/\s/.test(text[characters] ?? " ")) return text.slice(0, characters).trimEnd();
  return text
    .slice(0, characters)
    .replace(/(?<!\S)\S+$/, "")
    .trimEnd();
}

function joined(parts: string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}

/** What the assistant says in one job: its sentences in order, their audio, and how much of it was played. */
import { TICK_SAMPLES } from "./media-clock.ts";

/** Maximum sentences synthesised ahead of the one being played; a faster model waits. */
const MAX_AHEAD = 4;

interface Piece {
  text: string;
  /** `undefined` while it is synthesised; empty when that failed. */
  audio: Int16Array | undefined;
  playedSamples: number;
}

export class Utterance {
  readonly #pieces: Piece[] = [];
  /** Index of the piece being played. */
  #at = 0;
  #complete = false;
  #closed = false;
  #wakeWriter: (() => void) | undefined;

  /** Adds a sentence. @returns sets its audio */
  add(text: string): (audio: Int16Array) => void {
    const piece: Piece = { text, audio: undefined, playedSamples: 0 };
    this.#pieces.push(piece);
    return (audio) => {
      piece.audio = audio;
      this.#skipPlayed();
    };
  }

  /** Index of the sentence being played. */
  get sentence(): number {
    return this.#at;
  }

  get pieceCount(): number {
    return this.#pieces.length;
  }

  /** Marks the utterance complete: no further sentence comes. */
  complete(): void {
    this.#complete = true;
  }

  /** Ends the utterance: from now on only what was heard counts as said. */
  close(): void {
    this.#closed = true;
    this.#complete = true;
    this.#wakeWriter?.();
  }

  /** Whether `play` has audio now. */
  get playable(): boolean {
    return (this.#pieces[this.#at]?.audio?.length ?? 0) > 0;
  }

  /** Whether everything was played and nothing more comes. */
  get drained(): boolean {
    return this.#complete && this.#at >= this.#pieces.length;
  }

  /** Resolves once another sentence may be added. */
  async room(): Promise<void> {
    while (!this.#closed && this.#pieces.length - this.#at >= MAX_AHEAD) {
      await new Promise<void>((wake) => {
        this.#wakeWriter = wake;
      });
    }
  }

  /** The next 10 ms, padded with silence where a sentence ends or is late; `undefined` without audio. */
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
      this.#skipPlayed();
    }
    return frame;
  }

  /** What was heard so far of the sentences `from` to `to`, cut to whole words. */
  heard(from = 0, to = Number.POSITIVE_INFINITY): string {
    return joinSentences(this.#pieces.slice(from, to).map(heardOf));
  }

  /** What was said in the sentences `from` to `to`: their full text while the job lasts, afterwards what was heard. */
  said(from: number, to: number): string {
    return this.#closed
      ? this.heard(from, to)
      : joinSentences(this.#pieces.slice(from, to).map(({ text }) => text));
  }

  #skipPlayed(): void {
    const before = this.#at;
    for (let piece = this.#pieces[this.#at]; piece?.audio !== undefined; piece = this.#pieces[this.#at]) {
      if (piece.playedSamples < piece.audio.length) break;
      this.#at += 1;
    }
    if (this.#at !== before) this.#wakeWriter?.();
  }
}

/** The words covered by the played share of a sentence; letters stand in for duration. */
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

function joinSentences(parts: string[]): string {
  return parts.filter((part) => part !== "").join(" ");
}

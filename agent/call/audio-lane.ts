/** One direction of a call's audio: whole samples, in order, with a bound on what may wait for a slow side. */
import { BYTES_PER_SAMPLE, SampleAligner } from "../pcm.ts";

/** Where a lane's audio goes. */
export interface AudioSink {
  /** Bytes handed over that have not left yet. */
  readonly bufferedBytes: number;
  /** Sends whole samples. @param sent called once they have left, or can no longer leave; absent while nothing waits for it */
  send(samples: Buffer, sent?: () => void): void;
}

export interface LaneLimits {
  /** Maximum audio queued before the sink is connected. Drops the oldest of the stream first, owed audio last. */
  beforeOpenBytes: number;
  /** Maximum audio queued for a slow sink; dropped in the same order. */
  waitingBytes: number;
  /** High-water mark: above this much in the sink's own buffer, which cannot be cleared, audio queues here. */
  highWaterBytes: number;
}

/** A sink may buffer more than the samples: base64 and an envelope, frame headers, pings. */
const FRAMING_MARGIN = 2;

interface DroppedAudio {
  bytes: number;
  /** An episode lasts until the queue is empty. */
  firstOfEpisode: boolean;
}

interface WaitingChunk {
  samples: Buffer;
  /** `stream` may be dropped or cleared; `owed` survives `clear` and is dropped last. */
  kind: "stream" | "owed";
}

/**
 * Moves audio to a sink that may not be connected yet and may be slow. While the sink keeps up, a chunk costs one
 * comparison and no copy. Otherwise chunks queue here, the oldest is dropped on overflow, and the sink's `sent` callbacks
 * drain the queue. A chunk that finds the sink empty and leaves it well below the mark needs no callback: before anything
 * queues behind it, another one is sent that has.
 */
export class AudioLane {
  readonly #aligner = new SampleAligner();
  readonly #limits: LaneLimits;
  readonly #onDropped: (drop: DroppedAudio) => void;
  #sink: AudioSink | undefined;
  #waiting: WaitingChunk[] = [];
  #waitingBytes = 0;
  #dropping = false;
  #droppedBytes = 0;

  /** @param onDropped called for every drop */
  constructor(limits: LaneLimits, onDropped: (drop: DroppedAudio) => void) {
    this.#limits = limits;
    this.#onDropped = onDropped;
  }

  /** Audio dropped over the lane's life. */
  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  /** Audio waiting at the moment. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** The next bytes of the stream, of any length. @returns the whole samples they completed */
  push(chunk: Buffer): Buffer {
    const samples = this.#aligner.push(chunk);
    if (samples.length > 0) this.#enqueueOrSend(samples, "stream");
    return samples;
  }

  /**
   * Inserts whole samples that the sink must get: `clear` keeps them, and overflow drops them last. A held-back half
   * sample stays with the stream.
   */
  insert(samples: Buffer): void {
    this.#enqueueOrSend(samples, "owed");
  }

  #enqueueOrSend(samples: Buffer, kind: WaitingChunk["kind"]): void {
    const sink = this.#sink;
    if (sink !== undefined && this.#waiting.length === 0) {
      const { bufferedBytes } = sink;
      if (bufferedBytes === 0 && samples.length * FRAMING_MARGIN < this.#limits.highWaterBytes) {
        sink.send(samples);
        return;
      }
      if (bufferedBytes < this.#limits.highWaterBytes) {
        sink.send(samples, this.#drain);
        return;
      }
    }
    this.#waiting.push({ samples, kind });
    this.#waitingBytes += samples.length;
    const limit = sink === undefined ? this.#limits.beforeOpenBytes : this.#limits.waitingBytes;
    if (this.#waitingBytes > limit) this.#dropOldest(this.#waitingBytes - limit);
  }

  /** Connects the sink and sends the queue first. */
  connect(sink: AudioSink): void {
    this.#sink = sink;
    this.#drain();
  }

  /** Discards the stream's queued audio, after an interruption. @returns the bytes discarded */
  clear(): number {
    const clearedBytes = this.#waiting.reduce(
      (bytes, { kind, samples }) => (kind === "stream" ? bytes + samples.length : bytes),
      0,
    );
    this.#waiting = this.#waiting.filter(({ kind }) => kind === "owed");
    this.#waitingBytes -= clearedBytes;
    this.#dropping = false;
    this.#drain();
    return clearedBytes;
  }

  /** Sends the whole queue at the end of the call, whether or not the sink is slow; push nothing afterwards. */
  finish(): void {
    const sink = this.#sink;
    const waiting = this.#waiting;
    this.#resetQueue();
    this.#sink = undefined;
    if (sink === undefined) return;
    for (const { samples } of waiting) sink.send(samples);
  }

  readonly #drain = (): void => {
    const sink = this.#sink;
    if (sink === undefined || this.#waiting.length === 0) return;
    let taken = 0;
    for (const { samples } of this.#waiting) {
      if (sink.bufferedBytes >= this.#limits.highWaterBytes) break;
      taken += 1;
      this.#waitingBytes -= samples.length;
      sink.send(samples, this.#drain);
    }
    this.#waiting.splice(0, taken);
    if (this.#waiting.length === 0) this.#dropping = false;
  };

  #dropOldest(excessBytes: number): void {
    const dropped = excessBytes + (excessBytes % BYTES_PER_SAMPLE);
    const leftOver = this.#dropKind("stream", dropped);
    this.#dropKind("owed", leftOver);
    this.#waitingBytes -= dropped;
    this.#droppedBytes += dropped;
    const firstOfEpisode = !this.#dropping;
    this.#dropping = true;
    this.#onDropped({ bytes: dropped, firstOfEpisode });
  }

  /** Drops the oldest audio of one kind. @returns the bytes it could not drop */
  #dropKind(kind: WaitingChunk["kind"], bytes: number): number {
    const spared: WaitingChunk[] = [];
    let toDrop = bytes;
    let seen = 0;
    for (const chunk of this.#waiting) {
      if (toDrop === 0) break;
      if (chunk.kind === kind && chunk.samples.length > toDrop) {
        chunk.samples = chunk.samples.subarray(toDrop);
        toDrop = 0;
        break;
      }
      if (chunk.kind === kind) toDrop -= chunk.samples.length;
      else spared.push(chunk);
      seen += 1;
    }
    this.#waiting.splice(0, seen, ...spared);
    return toDrop;
  }

  #resetQueue(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#dropping = false;
  }
}

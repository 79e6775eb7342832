/** One direction of a call's audio: whole samples, in order, with a bound on what may wait for a slow side. */
import { BYTES_PER_SAMPLE, SampleAligner } from "../pcm.ts";

/** Where a lane's audio goes. */
export interface AudioSink {
  /** Bytes handed over that have not left yet. */
  readonly bufferedBytes: number;
  /** Passes whole samples on. @param sent called once they have left, or cannot leave any more */
  send(samples: Buffer, sent: () => void): void;
}

export interface LaneLimits {
  /** Most audio held before the sink is there; the oldest of the stream is dropped first, what is owed last. */
  beforeOpenBytes: number;
  /** Most audio held for a sink that does not take it; dropped in the same order. */
  waitingBytes: number;
  /** Audio goes to the sink only while it has less than this of its own; what it has cannot be taken back. */
  highWaterBytes: number;
}

interface WaitingChunk {
  samples: Buffer;
  /** Audio of the stream may be dropped or cleared; what is owed survives both. */
  kind: "stream" | "owed";
}

/**
 * Moves audio to a sink that may not be there yet and may be slow. While the sink keeps up a chunk costs one comparison
 * and nothing is copied. Otherwise chunks wait here, oldest dropped first when there are too many, and the sink's own
 * `sent` callbacks move them on.
 */
export class AudioLane {
  readonly #aligner = new SampleAligner();
  readonly #limits: LaneLimits;
  readonly #onDropped: (bytes: number, firstOfEpisode: boolean) => void;
  #sink: AudioSink | undefined;
  #waiting: WaitingChunk[] = [];
  #waitingBytes = 0;
  #dropping = false;
  #droppedBytes = 0;

  /** @param onDropped told of every drop; an episode lasts until nothing waits any more */
  constructor(limits: LaneLimits, onDropped: (bytes: number, firstOfEpisode: boolean) => void) {
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
    if (samples.length > 0) this.#take(samples, "stream");
    return samples;
  }

  /**
   * Puts whole samples that the sink is owed between those of the stream: neither `clear` nor a slow sink takes them
   * back. A half sample held back stays with the stream.
   */
  insert(samples: Buffer): void {
    this.#take(samples, "owed");
  }

  #take(samples: Buffer, kind: WaitingChunk["kind"]): void {
    const sink = this.#sink;
    if (
      sink !== undefined &&
      this.#waiting.length === 0 &&
      sink.bufferedBytes < this.#limits.highWaterBytes
    ) {
      sink.send(samples, this.#moveOn);
      return;
    }
    this.#waiting.push({ samples, kind });
    this.#waitingBytes += samples.length;
    const limit = sink === undefined ? this.#limits.beforeOpenBytes : this.#limits.waitingBytes;
    if (this.#waitingBytes > limit) this.#dropOldest(this.#waitingBytes - limit);
  }

  /** The sink is there: what waits goes first. */
  connect(sink: AudioSink): void {
    this.#sink = sink;
    this.#moveOn();
  }

  /** Throws away the stream's audio that waits, which nobody should hear any more. @returns the bytes thrown away */
  clear(): number {
    const clearedBytes = this.#waiting.reduce(
      (bytes, { kind, samples }) => (kind === "stream" ? bytes + samples.length : bytes),
      0,
    );
    this.#waiting = this.#waiting.filter(({ kind }) => kind === "owed");
    this.#waitingBytes -= clearedBytes;
    this.#dropping = false;
    this.#moveOn();
    return clearedBytes;
  }

  /** Hands all that waits to the sink, slow or not, because the call is over; nothing may be pushed afterwards. */
  finish(): void {
    const sink = this.#sink;
    const waiting = this.#waiting;
    this.#forgetWaiting();
    this.#sink = undefined;
    if (sink === undefined) return;
    for (const { samples } of waiting) sink.send(samples, ignore);
  }

  readonly #moveOn = (): void => {
    const sink = this.#sink;
    if (sink === undefined || this.#waiting.length === 0) return;
    let taken = 0;
    for (const { samples } of this.#waiting) {
      if (sink.bufferedBytes >= this.#limits.highWaterBytes) break;
      taken += 1;
      this.#waitingBytes -= samples.length;
      sink.send(samples, this.#moveOn);
    }
    this.#waiting.splice(0, taken);
    if (this.#waiting.length === 0) this.#dropping = false;
  };

  #dropOldest(excessBytes: number): void {
    const dropped = excessBytes + (excessBytes % BYTES_PER_SAMPLE);
    const leftOver = this.#dropOf("stream", dropped);
    this.#dropOf("owed", leftOver);
    this.#waitingBytes -= dropped;
    this.#droppedBytes += dropped;
    const firstOfEpisode = !this.#dropping;
    this.#dropping = true;
    this.#onDropped(dropped, firstOfEpisode);
  }

  /** Drops the oldest of one kind. @returns the bytes of which there were none left to drop */
  #dropOf(kind: WaitingChunk["kind"], bytes: number): number {
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

  #forgetWaiting(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#dropping = false;
  }
}

function ignore(): void {}

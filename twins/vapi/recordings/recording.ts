/**
 * The recording of one call: stereo PCM16 in a file, written in large chunks while the call runs. What is not written yet
 * is read from memory, so a running call can be heard up to the present.
 */
import { type FileHandle, open } from "node:fs/promises";
import { BYTES_PER_SAMPLE, samplesToBytes } from "@offhook/audio/pcm";
import { reasonOf } from "@offhook/platform/base/reason";
import { type AudioSink, LANES } from "./call-audio.ts";
import { Peaks } from "./peaks.ts";

/** Bytes of one sample of both sides. */
export const FRAME_BYTES = LANES * BYTES_PER_SAMPLE;
/** 1.4 s at 24 kHz. */
const CHUNK_BYTES = 128 * 1024;
const CHUNK_SAMPLES = CHUNK_BYTES / BYTES_PER_SAMPLE;
/** Chunks that may wait for the disk: more than the media clock can process at once. With more, the disk does not keep up. */
const MAX_WAITING_CHUNKS = 128;
const READ_BYTES = 64 * 1024;
const NO_ROOM = "there is no room for more; raise recordings.megabytes in the service's config";

/** `running`: more may come. `stopped`: the call went on without being recorded. */
export type RecordingState = "running" | "complete" | "stopped";

export interface RecordingParts {
  sampleRate: number;
  /** The file to write; makes its folder if need be. */
  file(): Promise<string>;
  /** Makes room for so many bytes more. @returns false when there is none */
  reserve(bytes: number): boolean;
  /** Gives back room that was not needed. */
  release(bytes: number): void;
  /** Says that the recording stopped before its call ended, and why. */
  onStop(reason: string): void;
}

export class Recording implements AudioSink {
  readonly sampleRate: number;
  readonly peaks: Peaks;
  readonly #parts: RecordingParts;
  #state: RecordingState = "running";
  /** The chunk that fills; made with the first audio. */
  #chunk: Int16Array | undefined;
  #chunkSamples = 0;
  /** Full chunks that are not in the file yet. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #writtenBytes = 0;
  #handle: FileHandle | undefined;
  #writing: Promise<void> | undefined;
  #reservedBytes = 0;
  #discarded = false;

  constructor(parts: RecordingParts) {
    this.#parts = parts;
    this.sampleRate = parts.sampleRate;
    this.peaks = new Peaks(parts.sampleRate);
  }

  get state(): RecordingState {
    return this.#state;
  }

  /** Length of its audio so far. */
  get bytes(): number {
    return this.#writtenBytes + this.#waitingBytes + this.#chunkSamples * BYTES_PER_SAMPLE;
  }

  /** Room it takes in the store. */
  get reservedBytes(): number {
    return this.#reservedBytes;
  }

  get durationMs(): number {
    return (this.bytes / FRAME_BYTES / this.sampleRate) * 1000;
  }

  take(stereo: Int16Array): void {
    for (let rest = stereo; rest.length > 0 && this.#state === "running"; ) {
      const chunk = this.#openChunk();
      if (chunk === undefined) return;
      const piece = rest.subarray(0, CHUNK_SAMPLES - this.#chunkSamples);
      chunk.set(piece, this.#chunkSamples);
      this.#chunkSamples += piece.length;
      this.peaks.add(piece);
      rest = rest.subarray(piece.length);
      if (this.#chunkSamples === CHUNK_SAMPLES) this.#closeChunk();
    }
  }

  end(): void {
    if (this.#state === "running") this.#finish("complete");
  }

  /** Stops and forgets what it has; readers under way fail or end. The file is its folder's to remove. */
  discard(): void {
    this.#discarded = true;
    if (this.#state === "running") this.#state = "stopped";
    this.#chunk = undefined;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#closeFile();
  }

  /** Resolves when nothing is left to write. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  /**
   * The audio between two byte offsets, which are multiples of `FRAME_BYTES` below `bytes`, in pieces of whole frames.
   * @throws Error when the recording is removed meanwhile
   */
  async *read(from: number, to: number): AsyncGenerator<Buffer> {
    let handle: FileHandle | undefined;
    try {
      for (let at = from; at < to; ) {
        let piece: Buffer;
        if (at < this.#writtenBytes) {
          handle ??= await open(await this.#parts.file(), "r");
          piece = await readFrom(handle, at, Math.min(to, this.#writtenBytes, at + READ_BYTES));
        } else piece = this.#fromMemory(at, to);
        if (piece.length === 0) throw new Error("the recording was removed while it was read");
        yield piece;
        at += piece.length;
      }
    } finally {
      await handle?.close();
    }
  }

  /** What is not in the file yet: the rest of one waiting chunk, or of the one that fills. */
  #fromMemory(from: number, to: number): Buffer {
    let start = this.#writtenBytes;
    for (const chunk of this.#waiting) {
      if (from < start + chunk.length) return chunk.subarray(from - start, to - start);
      start += chunk.length;
    }
    const filled = this.#chunk?.subarray(0, this.#chunkSamples) ?? new Int16Array(0);
    return samplesToBytes(filled).subarray(from - start, to - start);
  }

  /** The chunk to fill; `undefined` once the recording has stopped for want of room. */
  #openChunk(): Int16Array | undefined {
    if (this.#chunkSamples === 0) {
      if (this.#waiting.length >= MAX_WAITING_CHUNKS) this.#stop("the disk does not keep up");
      else if (!this.#parts.reserve(CHUNK_BYTES)) this.#stop(NO_ROOM);
      else this.#reservedBytes += CHUNK_BYTES;
      if (this.#state !== "running") return undefined;
    }
    this.#chunk ??= new Int16Array(CHUNK_SAMPLES);
    return this.#chunk;
  }

  #closeChunk(): void {
    if (this.#chunk === undefined || this.#chunkSamples === 0) return;
    const bytes = samplesToBytes(this.#chunk.subarray(0, this.#chunkSamples));
    this.#chunkSamples = 0;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#writing ??= this.#write();
  }

  /** Writes the waiting chunks, one after the other. */
  async #write(): Promise<void> {
    try {
      this.#handle ??= await open(await this.#parts.file(), "w", 0o600);
      for (let [chunk] = this.#waiting; chunk !== undefined; [chunk] = this.#waiting) {
        await this.#handle.appendFile(chunk);
        if (this.#discarded) break;
        this.#waiting.shift();
        this.#waitingBytes -= chunk.length;
        this.#writtenBytes += chunk.length;
      }
    } catch (error) {
      this.#stop(`its file cannot be written: ${reasonOf(error)}`);
    } finally {
      this.#writing = undefined;
      if (this.#state !== "running") {
        await this.#handle?.close().catch(() => {});
        this.#handle = undefined;
      }
    }
  }

  #stop(reason: string): void {
    if (this.#state !== "running") return;
    this.#parts.onStop(reason);
    this.#finish("stopped");
  }

  #finish(state: RecordingState): void {
    this.#state = state;
    this.#closeChunk();
    this.#chunk = undefined;
    this.peaks.end();
    const unused = this.#reservedBytes - this.bytes;
    this.#reservedBytes -= unused;
    this.#parts.release(unused);
    this.#closeFile();
  }

  #closeFile(): void {
    if (this.#handle !== undefined) this.#writing ??= this.#write();
  }
}

async function readFrom(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(to - from);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, from + length);
    if (bytesRead === 0) throw new Error("the recording's file is shorter than what was written to it");
    length += bytesRead;
  }
  return buffer;
}

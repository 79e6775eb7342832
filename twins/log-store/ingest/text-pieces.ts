/** The bytes of an upload: counted and hashed as sent, and decompressed if they are gzip. */
import { createHash } from "node:crypto";
import { pipeline, Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { createGunzip } from "node:zlib";
import { DatasetRefusal, type DatasetSource, DatasetTooLarge } from "@offhook/platform/twin/dataset";

/** Bytes that are parsed before yielding to the event loop. */
const PIECE_BYTES = 128 * 1024;
/** Enough to recognise gzip and byte order marks. */
const BEGINNING_BYTES = 4;

export class TextPieces {
  readonly #source: DatasetSource;
  readonly #signal: AbortSignal | undefined;
  readonly #hash = createHash("sha256");
  /** Bytes of the file so far, as they were sent. */
  bytes = 0;

  constructor(source: DatasetSource, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#signal = signal;
  }

  /** Of the whole file, once it has been read. */
  sha256(): string {
    return this.#hash.digest("hex");
  }

  /**
   * The text's bytes, cut anywhere.
   * @throws DatasetRefusal when they cannot be decompressed, DatasetTooLarge, the signal's reason, or the source's error
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    const chunks = this.#countBytes();
    const beginning = await beginningOf(chunks);
    const compressed = beginning[0] === 0x1f && beginning[1] === 0x8b;
    const all = withBeginning(beginning, chunks);
    const text = compressed ? gunzip(all) : all;
    let textBytes = 0;
    for await (const chunk of text) {
      textBytes += chunk.length;
      this.#checkSize(textBytes);
      for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
        this.#signal?.throwIfAborted();
        yield chunk.subarray(from, from + PIECE_BYTES);
        await setImmediate();
      }
    }
    this.#signal?.throwIfAborted();
  }

  #checkSize(bytes: number): void {
    const { maxBytes } = this.#source;
    if (maxBytes !== undefined && bytes > maxBytes) throw new DatasetTooLarge(maxBytes);
  }

  async *#countBytes(): AsyncGenerator<Buffer> {
    for await (const chunk of this.#source.bytes) {
      this.#signal?.throwIfAborted();
      this.bytes += chunk.length;
      this.#checkSize(this.bytes);
      this.#hash.update(chunk);
      yield chunk;
    }
  }
}

async function beginningOf(chunks: AsyncGenerator<Buffer>): Promise<Buffer> {
  let beginning: Buffer = Buffer.alloc(0);
  while (beginning.length < BEGINNING_BYTES) {
    const { value, done } = await chunks.next();
    if (done) break;
    beginning = beginning.length === 0 ? value : Buffer.concat([beginning, value]);
  }
  return beginning;
}

async function* withBeginning(beginning: Buffer, chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (beginning.length > 0) yield beginning;
  yield* chunks;
}

async function* gunzip(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const unzip = pipeline(Readable.from(chunks, { objectMode: false }), createGunzip(), () => undefined);
  try {
    for await (const chunk of unzip) yield chunk;
  } catch (error) {
    if (error instanceof Error && "code" in error && String(error.code).startsWith("Z_")) {
      throw new DatasetRefusal(`the file cannot be decompressed: ${error.message}`);
    }
    throw error;
  }
}

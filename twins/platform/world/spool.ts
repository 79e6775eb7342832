/** A byte buffer that spills to a temporary file when it grows large. */
import { randomBytes } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { WorldUnavailable } from "./world.ts";

/** Spools up to this size stay in memory. */
const MEMORY_BYTES = 1024 * 1024;
const PIECE_BYTES = 256 * 1024;
/** Spools on disk at a time, per process. */
const MAX_ON_DISK = 8;

/** The spool's limit is exceeded. */
export class SpoolFull extends Error {
  constructor(limitBytes: number) {
    super(`more than ${limitBytes} bytes; SNAPSHOT_LIMIT_MB says how many may be`);
    this.name = "SpoolFull";
  }
}

let onDisk = 0;

export class Spool {
  readonly #limitBytes: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #writtenBytes = 0;
  #file: FileHandle | undefined;

  /** @param limitBytes how much it takes. */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get bytes(): number {
    return this.#writtenBytes + this.#pendingBytes;
  }

  /** Adds bytes at the end. @throws SpoolFull, WorldUnavailable */
  async write(chunk: Buffer): Promise<void> {
    if (this.bytes + chunk.length > this.#limitBytes) throw new SpoolFull(this.#limitBytes);
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.length;
    const enough = this.#file ? PIECE_BYTES : MEMORY_BYTES;
    if (this.#pendingBytes < enough) return;
    try {
      await this.#flush();
    } catch (error) {
      throw explainFileError(error);
    }
  }

  /** Reads the bytes from `start` up to, not including, `end`. Do not write meanwhile. */
  async *read(start = 0, end = this.bytes): AsyncGenerator<Buffer> {
    let at = start;
    while (at < Math.min(end, this.#writtenBytes)) {
      const length = Math.min(PIECE_BYTES, end - at, this.#writtenBytes - at);
      const piece = Buffer.allocUnsafe(length);
      const { bytesRead = 0 } = (await this.#file?.read(piece, 0, length, at)) ?? {};
      if (bytesRead === 0) throw new Error("a temporary file is shorter than what was written to it");
      yield piece.subarray(0, bytesRead);
      at += bytesRead;
    }
    let from = this.#writtenBytes;
    for (const chunk of this.#pending) {
      const piece = chunk.subarray(Math.max(0, at - from), Math.max(0, end - from));
      from += chunk.length;
      if (piece.length === 0) continue;
      yield piece;
      at += piece.length;
    }
  }

  /** The first bytes, at most `maxBytes`. */
  async beginning(maxBytes: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.read(0, Math.min(maxBytes, this.bytes))) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  /** Discards the content and the file. */
  async clear(): Promise<void> {
    const file = this.#file;
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#writtenBytes = 0;
    this.#file = undefined;
    if (!file) return;
    onDisk--;
    await file.close();
  }

  async #flush(): Promise<void> {
    this.#file ??= await openUnnamed();
    const bytes = Buffer.concat(this.#pending);
    for (let done = 0; done < bytes.length; ) {
      const place = this.#writtenBytes + done;
      done += (await this.#file.write(bytes, done, bytes.length - done, place)).bytesWritten;
    }
    this.#writtenBytes += bytes.length;
    this.#pending = [];
    this.#pendingBytes = 0;
  }
}

/** Rewords a file system error to say what to do, without the file's path. */
function explainFileError(error: unknown): unknown {
  const isOfSystem = error instanceof Error && "syscall" in error && "code" in error;
  if (!isOfSystem) return error;
  const why = `what is larger than ${MEMORY_BYTES >> 20} MiB waits in the machine's temporary folder, which cannot be written to (${error.code})`;
  return new WorldUnavailable(`${why}: make room on its disk, and try again`, { cause: error });
}

/** Opens a file and unlinks it: it disappears with its handle, however the process ends. */
async function openUnnamed(): Promise<FileHandle> {
  if (onDisk >= MAX_ON_DISK) {
    throw new WorldUnavailable(
      `${MAX_ON_DISK} large snapshots and resets are under way; try again in a while`,
    );
  }
  onDisk++;
  try {
    const name = path.join(tmpdir(), `offhook-spool-${randomBytes(12).toString("hex")}`);
    const file = await open(name, "wx+", 0o600);
    await unlink(name);
    return file;
  } catch (error) {
    onDisk--;
    throw error;
  }
}

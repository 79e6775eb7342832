/**
 * How much a store's file may still grow: by its own limit, and by the free space on its disk. DuckDB invalidates a database when a
 * checkpoint finds the disk full, so a write is refused unless the disk has room for it and for all that waits in memory.
 */
import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { StoreFull } from "./log-store.ts";

/** Left free on the disk: for the empty store that a reset creates, and for other users of the disk. */
const DISK_MARGIN_BYTES = 4 << 20;
/** Bytes that may be written before the free space is measured again. */
const RECHECK_BYTES = 1 << 20;

/** Which bound keeps a file from growing. */
type Shortage = "limit" | "disk";

export class StoreRoom {
  readonly #file: string;
  readonly #limitBytes: number;
  /** Lower bound of the room, from the last measurement. */
  #knownBytes = 0;
  /** Free space on the disk when a checkpoint last failed. */
  #failedAtFreeBytes = 0;

  constructor(file: string, limitBytes: number) {
    this.#file = file;
    this.#limitBytes = limitBytes;
  }

  /** Whether the file can grow by so many bytes. */
  async holds(bytes: number): Promise<boolean> {
    return (await this.shortage(bytes)) === undefined;
  }

  /** Which bound keeps the file from growing by so many bytes; `undefined`: none. */
  async shortage(bytes: number): Promise<Shortage | undefined> {
    if (bytes <= this.#knownBytes) return undefined;
    const fileBytes = await sizeOf(this.#file);
    if (fileBytes + bytes > this.#limitBytes) return "limit";
    const free = (await this.#freeBytes()) - DISK_MARGIN_BYTES - this.#failedAtFreeBytes;
    if (bytes > free) return "disk";
    const room = Math.min(this.#limitBytes - fileBytes, free);
    this.#knownBytes = Math.min(room, bytes + RECHECK_BYTES);
    return undefined;
  }

  /** Measures again at the next question. */
  forget(): void {
    this.#knownBytes = 0;
  }

  /** A checkpoint has written the file. */
  checkpointed(): void {
    this.#knownBytes = 0;
    this.#failedAtFreeBytes = 0;
  }

  /** A checkpoint has failed despite the measured room: the room counts as used up until more space is free. */
  async checkpointFailed(): Promise<void> {
    this.#knownBytes = 0;
    this.#failedAtFreeBytes = await this.#freeBytes();
  }

  /** The error that says why a write is refused, and what to do. */
  refusal(shortage: Shortage, cause?: unknown): StoreFull {
    const why =
      shortage === "limit"
        ? `the log store has reached its limit of ${Math.round(this.#limitBytes / 1024 ** 2)} MiB: reset the sandbox, or start the twins with a larger STORE_LIMIT_MB`
        : "the disk that holds the log store is full: make room on it, or reset the sandbox";
    return new StoreFull(why, { cause });
  }

  async #freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(dirname(this.#file));
    return bavail * bsize;
  }
}

async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  return found?.size ?? 0;
}

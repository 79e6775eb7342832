/**
 * How much a store's file may still grow: by its own limit, and by what is free on its disk. DuckDB gives a database up when a
 * checkpoint finds the disk full, so there has to be room for all that waits in memory before more is taken.
 */
import { stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { StoreFull } from "./log-store.ts";

/** Left free on the disk: for an empty store that a reset makes, and for whoever else shares the disk. */
const DISK_MARGIN_BYTES = 4 << 20;
/** So much more is taken before anyone looks at the disk again. */
const LOOK_AGAIN_BYTES = 1 << 20;

/** What keeps a file from growing. */
type Shortage = "limit" | "disk";

export class StoreRoom {
  readonly #file: string;
  readonly #limitBytes: number;
  /** What there was room for when somebody looked last, less what may have been taken since. */
  #knownBytes = 0;
  /** Free on the disk when a checkpoint failed there. */
  #failedAtFreeBytes = 0;

  constructor(file: string, limitBytes: number) {
    this.#file = file;
    this.#limitBytes = limitBytes;
  }

  /** Whether the file can grow by so many bytes. */
  async holds(bytes: number): Promise<boolean> {
    return (await this.shortage(bytes)) === undefined;
  }

  /** What keeps the file from growing by so many bytes; `undefined`: nothing. */
  async shortage(bytes: number): Promise<Shortage | undefined> {
    if (bytes <= this.#knownBytes) return undefined;
    const fileBytes = await sizeOf(this.#file);
    if (fileBytes + bytes > this.#limitBytes) return "limit";
    const free = (await this.#freeBytes()) - DISK_MARGIN_BYTES - this.#failedAtFreeBytes;
    if (bytes > free) return "disk";
    const room = Math.min(this.#limitBytes - fileBytes, free);
    this.#knownBytes = Math.min(room, bytes + LOOK_AGAIN_BYTES);
    return undefined;
  }

  /** Looks again before anything else is taken. */
  forget(): void {
    this.#knownBytes = 0;
  }

  /** A checkpoint has written the file. */
  written(): void {
    this.#knownBytes = 0;
    this.#failedAtFreeBytes = 0;
  }

  /** A checkpoint has failed, whatever the disk said of its room: the next one waits until there is as much more. */
  async failed(): Promise<void> {
    this.#knownBytes = 0;
    this.#failedAtFreeBytes = await this.#freeBytes();
  }

  /** Says why something is not taken, and what to do. */
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

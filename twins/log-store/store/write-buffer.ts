/**
 * Group commit with back-pressure: the rows of finished writes, on their way into the database. A write ends as soon as its rows are
 * here, for they were checked before. Many rows are stored in one transaction, which takes hardly longer than a few:
 * - when enough rows wait, or the first has waited for a moment;
 * - before a read, which waits for the flush: so it sees every finished write, and each write completely or not at all.
 *
 * Writers may add rows while others are being stored, and wait beyond a limit. Rows that could not be stored stay here; the next read or
 * waiting writer retries them, and gets the error. Nothing need survive the process, for its database does not.
 */
import { setImmediate } from "node:timers/promises";

/** Sizes at which the buffer is stored, or writers wait. The rows of one write are never split. */
export interface BufferLimit {
  rows: number;
  /** Of their texts, in UTF-16 units. */
  characters: number;
}

const FLUSH_AT: BufferLimit = { rows: 2048, characters: 2 << 20 };
/** Back-pressure begins here: about what arrives during a checkpoint, so that writers need not wait for one. */
const MAX_BUFFERED: BufferLimit = { rows: 10_240, characters: 6 << 20 };
const MAX_DELAY_MS = 100;

export class WriteBuffer<Row> {
  readonly #store: (rows: readonly Row[]) => Promise<void>;
  readonly #charactersOf: (row: Row) => number;
  #waiting: Row[] = [];
  #characters = 0;
  /** The transaction under way. */
  #storing: Promise<void> | undefined;
  /** The transaction that follows it. */
  #next: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param store stores rows in their order; none of them when it throws */
  constructor(store: (rows: readonly Row[]) => Promise<void>, charactersOf: (row: Row) => number) {
    this.#store = store;
    this.#charactersOf = charactersOf;
  }

  /** Whether all writes are in the database. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#storing === undefined;
  }

  /** Of the texts of the waiting rows, in UTF-16 units. */
  get characters(): number {
    return this.#characters;
  }

  /** Waits until the buffer is below its limit. @throws what kept rows from being stored */
  async waitForRoom(): Promise<void> {
    while (this.#reaches(MAX_BUFFERED)) {
      if (this.#storing === undefined) await this.flush();
      else {
        await Promise.allSettled([this.#storing]);
        // By then a flush that was requested meanwhile has begun, and taken the waiting rows.
        await setImmediate();
      }
    }
  }

  /** Adds the rows of one write. */
  add(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#waiting.push(row);
      this.#characters += this.#charactersOf(row);
    }
    if (this.#reaches(FLUSH_AT)) this.#storeSoon();
    else this.#timer ??= setTimeout(() => this.#storeSoon(), MAX_DELAY_MS).unref();
  }

  /** Resolves when all added rows are in the database. @throws what kept rows from being stored */
  flush(): Promise<void> {
    if (this.#waiting.length === 0) return this.#storing ?? Promise.resolve();
    this.#next ??= this.#storeNext();
    return this.#next;
  }

  /** Waits for running and requested flushes; drops the other rows. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    while (!(this.#storing === undefined && this.#next === undefined)) {
      await Promise.allSettled([this.#storing, this.#next]);
    }
    this.#waiting = [];
  }

  #reaches({ rows, characters }: BufferLimit): boolean {
    return this.#waiting.length >= rows || this.#characters >= characters;
  }

  #storeSoon(): void {
    // The next read retries, and gets the error.
    this.flush().catch(() => {});
  }

  async #storeNext(): Promise<void> {
    await this.#storing?.catch(() => {});
    this.#next = undefined;
    this.#storing = this.#storeAll().finally(() => {
      this.#storing = undefined;
    });
    await this.#storing;
  }

  async #storeAll(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const rows = this.#waiting;
    const characters = this.#characters;
    this.#waiting = [];
    this.#characters = 0;
    try {
      await this.#store(rows);
    } catch (error) {
      this.#waiting = [...rows, ...this.#waiting];
      this.#characters += characters;
      throw error;
    }
  }
}

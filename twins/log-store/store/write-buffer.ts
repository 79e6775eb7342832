/**
 * What is written, and not yet in the database. A write is done as soon as its rows lie here: what could speak against them was found
 * before. They go into the database together, many in one transaction, for that takes hardly longer than a few:
 * - when enough of them wait, or when the first of them has waited for a moment;
 * - when somebody reads. A reader waits until all that was written before is in the database, so it sees every finished write, and
 *   of each all of it or nothing.
 *
 * While some are stored others are taken, up to a limit; from there on writers wait. Rows that could not be stored stay, and are tried
 * again by whoever reads or needs room next, who is told what is wrong. Nothing survives the end of the process: the database does not.
 */
import { setImmediate } from "node:timers/promises";

/** What waits before it is stored, and before writers wait. What one write brings is never cut. */
export interface BufferLimit {
  rows: number;
  /** Of their texts, in UTF-16 units. */
  characters: number;
}

const ENOUGH: BufferLimit = { rows: 2048, characters: 2 << 20 };
/** As much as comes while the database is written down, so that nobody waits for that. */
const MOST: BufferLimit = { rows: 10_240, characters: 6 << 20 };
const LONGEST_MS = 100;

export class WriteBuffer<Row> {
  readonly #store: (rows: readonly Row[]) => Promise<void>;
  readonly #charactersOf: (row: Row) => number;
  #waiting: Row[] = [];
  #characters = 0;
  /** Of what is being stored. */
  #storing: Promise<void> | undefined;
  /** What begins when that has ended. */
  #next: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param store puts rows into the database in their order: all of them, or none when it throws */
  constructor(store: (rows: readonly Row[]) => Promise<void>, charactersOf: (row: Row) => number) {
    this.#store = store;
    this.#charactersOf = charactersOf;
  }

  /** Whether all that was written is in the database. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#storing === undefined;
  }

  /** Of the texts of rows that wait, in UTF-16 units. */
  get characters(): number {
    return this.#characters;
  }

  /** Waits while there is too much to take more. @throws what keeps it from being stored */
  async room(): Promise<void> {
    while (this.#reaches(MOST)) {
      if (this.#storing === undefined) await this.flush();
      else {
        await Promise.allSettled([this.#storing]);
        // What was asked for meanwhile has begun by then, and taken what waits.
        await setImmediate();
      }
    }
  }

  /** Takes the rows of one write. */
  add(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#waiting.push(row);
      this.#characters += this.#charactersOf(row);
    }
    if (this.#reaches(ENOUGH)) this.#storeSoon();
    else this.#timer ??= setTimeout(() => this.#storeSoon(), LONGEST_MS).unref();
  }

  /** Waits until all that has been added is in the database. @throws what kept it from being stored */
  flush(): Promise<void> {
    if (this.#waiting.length === 0) return this.#storing ?? Promise.resolve();
    this.#next ??= this.#storeNext();
    return this.#next;
  }

  /** Waits for what is being stored or asked for; what nobody has asked for is dropped. */
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
    // Whoever reads next is told.
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

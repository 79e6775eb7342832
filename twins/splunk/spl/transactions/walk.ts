/** Assigns rows with differing key fields to transactions: row by row, from newest to oldest. */
import { Slices } from "@offhook/log-store/slices";

export interface WalkedRow {
  /** Seconds. */
  time: number;
  /** Values by key; empty when the row lacks the field. */
  keys: readonly (readonly string[])[];
  isStart: boolean;
  isEnd: boolean;
}

export interface WalkLimits {
  maxSpan: number | undefined;
  maxPause: number | undefined;
  maxEvents: number | undefined;
  connected: boolean;
  unifyEnds: boolean;
  /** Bounds of what is open at a time; beyond them, the least recently extended transactions are evicted. */
  maxOpenTransactions: number;
  maxOpenEvents: number;
}

/** `closed`: by a limit; `open`: until the last row; `evicted`: to keep within bounds. */
export type Ending = "closed" | "open" | "evicted";

export interface WalkResult {
  /** Transaction number, from 0, for each row. */
  transactions: number[];
  /** For each transaction. */
  endings: Ending[];
}

interface OpenTransaction {
  number: number;
  newest: number;
  oldest: number;
  events: number;
  /** Values of its rows, by key. */
  keys: readonly Set<string>[];
}

/** @param pause called between slices of work; may throw to end the walk */
export async function walk(
  rows: Iterable<WalkedRow>,
  keys: number,
  limits: WalkLimits,
  pause: () => void,
): Promise<WalkResult> {
  const open = new OpenTransactions(keys, limits);
  const slices = new Slices();
  const transactions: number[] = [];
  let oldest = 0;
  for (const row of rows) {
    transactions.push(open.add(row));
    oldest = row.time;
    if (!slices.over) continue;
    await slices.next();
    pause();
  }
  open.end(oldest);
  return { transactions, endings: open.endings };
}

/** The open transactions, indexed by key values. */
class OpenTransactions {
  readonly endings: Ending[] = [];
  readonly #limits: WalkLimits;
  readonly #keyCount: number;
  /** In LRU order: least recently extended first. */
  readonly #open = new Set<OpenTransaction>();
  /** By key and value. */
  readonly #index = new Map<string, Set<OpenTransaction>>();
  #events = 0;

  constructor(keys: number, limits: WalkLimits) {
    this.#keyCount = keys;
    this.#limits = limits;
  }

  /** @returns the number of the row's transaction */
  add(row: WalkedRow): number {
    const found = this.#find(row);
    if (found !== undefined && row.isEnd) this.#close(found, "closed");
    const transaction = found === undefined || row.isEnd ? this.#begin(row) : found;
    transaction.oldest = row.time;
    transaction.events++;
    this.#events++;
    this.#take(transaction, row);
    const full = transaction.events >= (this.#limits.maxEvents ?? Number.POSITIVE_INFINITY);
    if (row.isStart || full) this.#close(transaction, "closed");
    this.#evict();
    return transaction.number;
  }

  /** Closes what is open. @param oldest time of the last row */
  end(oldest: number): void {
    for (const transaction of [...this.#open]) {
      this.#close(transaction, this.#isOver(transaction, oldest) ? "closed" : "open");
    }
  }

  #begin({ time }: WalkedRow): OpenTransaction {
    const keys = Array.from({ length: this.#keyCount }, () => new Set<string>());
    const transaction = { number: this.endings.length, newest: time, oldest: time, events: 0, keys };
    this.endings.push("open");
    return transaction;
  }

  /** The transaction to extend with the row: of several candidates, the most recently extended. */
  #find(row: WalkedRow): OpenTransaction | undefined {
    const { connected, unifyEnds } = this.#limits;
    const needsMatch = this.#keyCount > 0 && (row.isStart || row.isEnd ? unifyEnds : connected);
    const candidates = needsMatch ? this.#sharing(row) : this.#open;
    let found: OpenTransaction | undefined;
    for (const transaction of candidates) {
      if (this.#isOver(transaction, row.time)) this.#close(transaction, "closed");
      else if (!differs(transaction, row)) found = this.#later(found, transaction);
    }
    return found;
  }

  #later(one: OpenTransaction | undefined, other: OpenTransaction): OpenTransaction {
    return one === undefined || other.oldest <= one.oldest ? other : one;
  }

  #sharing({ keys }: WalkedRow): Set<OpenTransaction> {
    const sharing = new Set<OpenTransaction>();
    keys.forEach((values, key) => {
      for (const value of values) {
        for (const transaction of this.#index.get(`${key}\0${value}`) ?? []) sharing.add(transaction);
      }
    });
    return sharing;
  }

  /** Adds the row's key values to the transaction. */
  #take(transaction: OpenTransaction, { keys }: WalkedRow): void {
    this.#open.delete(transaction);
    this.#open.add(transaction);
    keys.forEach((values, key) => {
      for (const value of values) {
        transaction.keys[key]?.add(value);
        const name = `${key}\0${value}`;
        const sharing = this.#index.get(name) ?? new Set();
        sharing.add(transaction);
        this.#index.set(name, sharing);
      }
    });
  }

  #isOver({ newest, oldest }: OpenTransaction, time: number): boolean {
    const { maxSpan = Number.POSITIVE_INFINITY, maxPause = Number.POSITIVE_INFINITY } = this.#limits;
    return newest - time > maxSpan || oldest - time > maxPause;
  }

  #evict(): void {
    const { maxOpenTransactions, maxOpenEvents } = this.#limits;
    for (const transaction of this.#open) {
      if (this.#open.size <= maxOpenTransactions && this.#events <= maxOpenEvents) return;
      this.#close(transaction, "evicted");
    }
  }

  #close(transaction: OpenTransaction, ending: Ending): void {
    this.endings[transaction.number] = ending;
    this.#open.delete(transaction);
    this.#events -= transaction.events;
    transaction.keys.forEach((values, key) => {
      for (const value of values) {
        const name = `${key}\0${value}`;
        const sharing = this.#index.get(name);
        sharing?.delete(transaction);
        if (sharing?.size === 0) this.#index.delete(name);
      }
    });
  }
}

/** Whether the two share a key field but no value of it. */
function differs({ keys }: OpenTransaction, row: WalkedRow): boolean {
  return row.keys.some((values, key) => {
    const known = keys[key];
    return (
      known !== undefined && known.size > 0 && values.length > 0 && !values.some((value) => known.has(value))
    );
  });
}

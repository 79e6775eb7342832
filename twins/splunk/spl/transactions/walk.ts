/** Transactions of rows that have different fields: one row after the other, from the newest to the oldest. */
import { Slices } from "@offhook/log-store/slices";

export interface WalkedRow {
  /** Seconds. */
  time: number;
  /** By key: its values; none when the row has no such field. */
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
  /** What may be open at a time: beyond that, what was added to longest ago is evicted. */
  maxOpenTransactions: number;
  maxOpenEvents: number;
}

/** A limit has closed it; it was open at the end; or it had to go before. */
export type Ending = "closed" | "open" | "evicted";

export interface Walked {
  /** By row: its transaction's number, from 0. */
  transactions: number[];
  /** By transaction. */
  endings: Ending[];
}

interface OpenTransaction {
  number: number;
  newest: number;
  oldest: number;
  events: number;
  /** By key: the values that its rows have had. */
  keys: readonly Set<string>[];
}

/** @param pause called between slices of the work; what it throws ends the walk */
export async function walk(
  rows: Iterable<WalkedRow>,
  keys: number,
  limits: WalkLimits,
  pause: () => void,
): Promise<Walked> {
  const pool = new Pool(keys, limits);
  const slices = new Slices();
  const transactions: number[] = [];
  let oldest = 0;
  for (const row of rows) {
    transactions.push(pool.add(row));
    oldest = row.time;
    if (!slices.over) continue;
    await slices.next();
    pause();
  }
  pool.end(oldest);
  return { transactions, endings: pool.endings };
}

/** The transactions that are open. */
class Pool {
  readonly endings: Ending[] = [];
  readonly #limits: WalkLimits;
  readonly #keyCount: number;
  /** The one that was added to longest ago comes first. */
  readonly #open = new Set<OpenTransaction>();
  /** By key and value. */
  readonly #index = new Map<string, Set<OpenTransaction>>();
  #events = 0;

  constructor(keys: number, limits: WalkLimits) {
    this.#keyCount = keys;
    this.#limits = limits;
  }

  /** @returns the transaction that the row is in now */
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

  /** @param oldest time of the last row */
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

  /** The transaction that the row goes to: of several, the one that was added to last. */
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

  /** The row's values are the transaction's from now on. */
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

/** Whether a field that both have has no value in common. */
function differs({ keys }: OpenTransaction, row: WalkedRow): boolean {
  return row.keys.some((values, key) => {
    const known = keys[key];
    return (
      known !== undefined && known.size > 0 && values.length > 0 && !values.some((value) => known.has(value))
    );
  });
}

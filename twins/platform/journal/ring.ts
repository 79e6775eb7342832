/** A ring buffer: keeps the newest entries, within a count and a byte budget. */

export interface RingLimits {
  entries: number;
  bytes: number;
}

export class Ring<Entry extends { bytes: number }> {
  readonly #places: (Entry | undefined)[];
  readonly #limits: RingLimits;
  /** Number of entries ever added; the next one's place is this modulo the number of places. */
  #added = 0;
  #oldest = 0;
  #bytes = 0;

  constructor(limits: RingLimits) {
    this.#limits = limits;
    this.#places = new Array<Entry | undefined>(limits.entries).fill(undefined);
  }

  /** How many entries were evicted. */
  get dropped(): number {
    return this.#oldest;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds an entry. @returns its number, for `grow` */
  add(entry: Entry): number {
    if (this.#added - this.#oldest >= this.#limits.entries) this.#dropOldest();
    this.#places[this.#added % this.#limits.entries] = entry;
    this.#bytes += entry.bytes;
    const number = this.#added++;
    this.#keepWithinBytes();
    return number;
  }

  /** Accounts for an entry that has grown since it was added; an evicted one is ignored. */
  grow(number: number, bytes: number): void {
    if (number < this.#oldest) return;
    const entry = this.#places[number % this.#limits.entries];
    if (!entry) return;
    entry.bytes += bytes;
    this.#bytes += bytes;
    this.#keepWithinBytes();
  }

  /** Oldest first. */
  *entries(): IterableIterator<Entry> {
    for (let index = this.#oldest; index < this.#added; index++) {
      const entry = this.#places[index % this.#limits.entries];
      if (entry) yield entry;
    }
  }

  #keepWithinBytes(): void {
    while (this.#bytes > this.#limits.bytes && this.#oldest < this.#added) this.#dropOldest();
  }

  #dropOldest(): void {
    const place = this.#oldest % this.#limits.entries;
    this.#bytes -= this.#places[place]?.bytes ?? 0;
    this.#places[place] = undefined;
    this.#oldest++;
  }
}

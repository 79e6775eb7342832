/** Durations counted in whole milliseconds: percentiles of any number of values in bounded memory, mergeable over processes. */

/** Longer durations are counted as this long. */
const MAX_MS = 60_000;

/** How many values there are of each number of milliseconds; passes between processes as JSON. */
export type Buckets = [ms: number, count: number][];

export class Histogram {
  readonly #counts = new Map<number, number>();
  #total = 0;

  add(ms: number): void {
    this.#count(Math.min(Math.max(0, Math.round(ms)), MAX_MS), 1);
  }

  merge(buckets: Buckets): void {
    for (const [ms, count] of buckets) this.#count(ms, count);
  }

  get total(): number {
    return this.#total;
  }

  /** The largest value; 0 when there is none. */
  get maxMs(): number {
    let max = 0;
    for (const ms of this.#counts.keys()) max = Math.max(max, ms);
    return max;
  }

  /** The value that the given share of all values does not exceed; 0 when there is none. */
  percentile(share: number): number {
    let seen = 0;
    for (const [ms, count] of this.#sorted()) {
      seen += count;
      if (seen >= share * this.#total) return ms;
    }
    return 0;
  }

  /** Share of the values above a limit; 0 when there are no values. */
  shareAbove(limitMs: number): number {
    if (this.#total === 0) return 0;
    let above = 0;
    for (const [ms, count] of this.#counts) if (ms > limitMs) above += count;
    return above / this.#total;
  }

  buckets(): Buckets {
    return [...this.#counts];
  }

  #sorted(): Buckets {
    return this.buckets().sort(([one], [other]) => one - other);
  }

  #count(ms: number, count: number): void {
    this.#counts.set(ms, (this.#counts.get(ms) ?? 0) + count);
    this.#total += count;
  }
}

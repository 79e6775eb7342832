/** Caches answers, so that a retried webhook gets the first answer again instead of running the tool twice. */

const MAX_PER_GENERATION = 2_500;
/** A UTF-16 unit counts as two bytes, its maximum. */
const MAX_BYTES_PER_GENERATION = 32 * 1024 * 1024;
const KEPT_MS = 15 * 60_000;

interface Entry {
  answer: Promise<string>;
  /** Milliseconds of the monotonic clock; `undefined` while the work runs. */
  doneAt: number | undefined;
  /** Size of the key and, once known, of the answer. */
  bytes: number;
}

class Generation {
  readonly entries = new Map<string, Entry>();
  bytes = 0;

  get isFull(): boolean {
    return this.entries.size >= MAX_PER_GENERATION || this.bytes >= MAX_BYTES_PER_GENERATION;
  }

  add(key: string, entry: Entry): void {
    this.entries.set(key, entry);
    this.bytes += entry.bytes;
  }
}

/**
 * A cache bounded in count, bytes and time; requests in progress are never evicted. It has two generations: when the
 * younger is full, the older is evicted as a whole, so eviction costs nothing per answer.
 */
export class AnswerMemory {
  #young = new Generation();
  #old = new Generation();

  /** Bytes of the cached keys and answers. */
  get bytes(): number {
    return this.#young.bytes + this.#old.bytes;
  }

  /**
   * The cached answer of a key, or else the result of `work`.
   * @returns undefined, without running `work`, when too much work is in progress to remember more
   */
  async once(key: string, work: () => Promise<string>): Promise<string | undefined> {
    const known = this.#young.entries.get(key) ?? this.#old.entries.get(key);
    if (known !== undefined && !isOutdated(known)) return known.answer;
    if (this.#young.isFull) this.#nextGeneration();
    if (this.#young.isFull) return undefined;
    const entry: Entry = { answer: work(), doneAt: undefined, bytes: bytesOfText(key) };
    this.#young.add(key, entry);
    let answer = "";
    try {
      answer = await entry.answer;
      return answer;
    } finally {
      entry.doneAt = performance.now();
      this.#grow(key, entry, bytesOfText(answer));
    }
  }

  /** An entry may have moved to the next generation, or be in both, while its work was under way. */
  #grow(key: string, entry: Entry, bytes: number): void {
    entry.bytes += bytes;
    for (const generation of [this.#young, this.#old]) {
      if (generation.entries.get(key) === entry) generation.bytes += bytes;
    }
    if (this.#young.bytes >= MAX_BYTES_PER_GENERATION) this.#nextGeneration();
  }

  #nextGeneration(): void {
    const next = new Generation();
    for (const generation of [this.#old, this.#young]) {
      for (const [key, entry] of generation.entries) {
        if (entry.doneAt === undefined) next.add(key, entry);
      }
    }
    this.#old = this.#young;
    this.#young = next;
  }
}

function bytesOfText(text: string): number {
  return text.length * 2;
}

function isOutdated(entry: Entry): boolean {
  return entry.doneAt !== undefined && performance.now() - entry.doneAt > KEPT_MS;
}

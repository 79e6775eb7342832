/** Remembers answers, so that a repeated request gets the first one again: the runtime retries webhooks. */

const MAX_PER_GENERATION = 2_500;
/** A UTF-16 unit counts two bytes, which is what it takes at most. */
const MAX_BYTES_PER_GENERATION = 32 * 1024 * 1024;
const KEPT_MS = 15 * 60_000;

interface Entry {
  answer: Promise<string>;
  /** Milliseconds of the monotonic clock; while the work is under way there is none. */
  doneAt: number | undefined;
  /** Of the key and, once it is there, of the answer. */
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
 * Bounded in count, bytes and time; a request under way is never forgotten. It holds two generations: when the younger is
 * full, the elder is forgotten as a whole, which costs nothing for each answer.
 */
export class AnswerMemory {
  #young = new Generation();
  #old = new Generation();

  /** Bytes of the keys and answers that are remembered. */
  get bytes(): number {
    return this.#young.bytes + this.#old.bytes;
  }

  /**
   * The answer under a key: the remembered one, or the work's.
   * @returns undefined when so much work is under way that nothing more can be remembered; then nothing is done
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

/** Remembers answers, so that a repeated request gets the first one again: the runtime retries webhooks. */

const MAX_PER_GENERATION = 2_500;
const KEPT_MS = 15 * 60_000;

interface Entry {
  answer: Promise<string>;
  /** Milliseconds of the monotonic clock; while the work is under way there is none. */
  doneAt: number | undefined;
}

/**
 * Bounded in count and time; a request under way is never forgotten. It holds two generations: when the younger is full,
 * the elder is forgotten as a whole, which costs nothing for each answer.
 */
export class AnswerMemory {
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();

  /**
   * The answer under a key: the remembered one, or the work's.
   * @returns undefined when so much work is under way that nothing more can be remembered; then nothing is done
   */
  async once(key: string, work: () => Promise<string>): Promise<string | undefined> {
    const known = this.#young.get(key) ?? this.#old.get(key);
    if (known !== undefined && !isOutdated(known)) return known.answer;
    if (this.#young.size >= MAX_PER_GENERATION) this.#nextGeneration();
    if (this.#young.size >= MAX_PER_GENERATION) return undefined;
    const entry: Entry = { answer: work(), doneAt: undefined };
    this.#young.set(key, entry);
    try {
      return await entry.answer;
    } finally {
      entry.doneAt = performance.now();
    }
  }

  #nextGeneration(): void {
    const underWay = [...this.#old, ...this.#young].filter(([, entry]) => entry.doneAt === undefined);
    this.#old = this.#young;
    this.#young = new Map(underWay);
  }
}

function isOutdated(entry: Entry): boolean {
  return entry.doneAt !== undefined && performance.now() - entry.doneAt > KEPT_MS;
}

/** Remembers answers, so that a repeated request gets the first one again: the runtime retries webhooks. */

const MAX_ANSWERS = 5_000;
const KEPT_MS = 15 * 60_000;

interface Entry {
  answer: Promise<string>;
  /** Milliseconds of the monotonic clock; while the work is under way there is none. */
  doneAt: number | undefined;
}

/** Bounded in count and time; a request under way is never forgotten. */
export class AnswerMemory {
  readonly #entries = new Map<string, Entry>();

  /**
   * The answer under a key: the remembered one, or the work's.
   * @returns undefined when so much work is under way that nothing more can be remembered; then nothing is done
   */
  async once(key: string, work: () => Promise<string>): Promise<string | undefined> {
    const known = this.#entries.get(key);
    if (known !== undefined && !isOld(known)) return known.answer;
    this.#entries.delete(key);
    this.#makeRoom();
    if (this.#entries.size >= MAX_ANSWERS) return undefined;
    const entry: Entry = { answer: work(), doneAt: undefined };
    this.#entries.set(key, entry);
    try {
      return await entry.answer;
    } finally {
      entry.doneAt = performance.now();
    }
  }

  /** Entries are in the order of their requests, so the oldest come first. */
  #makeRoom(): void {
    for (const [key, entry] of this.#entries) {
      if (entry.doneAt === undefined) continue;
      if (!isOld(entry) && this.#entries.size < MAX_ANSWERS) return;
      this.#entries.delete(key);
    }
  }
}

function isOld(entry: Entry): boolean {
  return entry.doneAt !== undefined && performance.now() - entry.doneAt > KEPT_MS;
}

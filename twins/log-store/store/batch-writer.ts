/** Writes that are asked for while another is under way are carried out together: a small one takes nearly as long as a large one. */
import type { LogStore, LogWriter } from "./log-store.ts";

/** How much is carried out together at most; what one writer asks for is never cut. */
export interface GatheringLimit {
  count: number;
  /** Of their texts, in UTF-16 units. */
  characters: number;
}

const LIMIT: GatheringLimit = { count: 4096, characters: 4 << 20 };

interface Pending<Ask, Answer> {
  asks: readonly Ask[];
  resolve(answers: Answer[]): void;
  reject(error: unknown): void;
}

export class Gathering<Ask, Answer> {
  readonly #work: (writer: LogWriter, asks: readonly Ask[]) => Promise<Answer[]>;
  readonly #charactersOf: (ask: Ask) => number;
  readonly #limit: GatheringLimit;
  /** In the order of their turns. */
  readonly #waiting = new Set<Pending<Ask, Answer>>();

  /** @param work carries out what it is given, one after the other: as many answers, in the same order. */
  constructor(
    work: (writer: LogWriter, asks: readonly Ask[]) => Promise<Answer[]>,
    charactersOf: (ask: Ask) => number,
    limit = LIMIT,
  ) {
    this.#work = work;
    this.#charactersOf = charactersOf;
    this.#limit = limit;
  }

  /** Answers once all of it is stored. @throws QueueFull, and what the work throws */
  perform(store: LogStore, asks: readonly Ask[]): Promise<Answer[]> {
    return new Promise((resolve, reject) => {
      const pending: Pending<Ask, Answer> = { asks, resolve, reject };
      this.#waiting.add(pending);
      const turn = store.exclusively(async (writer) => {
        // An earlier turn may have taken it along.
        if (this.#waiting.has(pending)) await this.#carryOut(writer);
      });
      turn.catch((error: unknown) => {
        if (this.#waiting.delete(pending)) reject(error);
      });
    });
  }

  async #carryOut(writer: LogWriter): Promise<void> {
    const group = this.#takeGroup();
    try {
      const answers = await this.#work(
        writer,
        group.flatMap(({ asks }) => asks),
      );
      let from = 0;
      for (const { asks, resolve } of group) {
        resolve(answers.slice(from, from + asks.length));
        from += asks.length;
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  #takeGroup(): Pending<Ask, Answer>[] {
    const group: Pending<Ask, Answer>[] = [];
    let { count, characters } = this.#limit;
    for (const pending of this.#waiting) {
      count -= pending.asks.length;
      characters -= pending.asks.reduce((sum, ask) => sum + this.#charactersOf(ask), 0);
      if (group.length > 0 && (count < 0 || characters < 0)) break;
      this.#waiting.delete(pending);
      group.push(pending);
    }
    return group;
  }
}

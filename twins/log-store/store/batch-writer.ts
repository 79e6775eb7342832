/** Group commit: requests that arrive while a write is under way are written together, for a small write costs nearly as much as a large one. */
import type { LogStore, LogWriter } from "./log-store.ts";

/** Bounds of one group. A single caller's requests are never split. */
export interface GroupLimit {
  count: number;
  /** Of their texts, in UTF-16 units. */
  characters: number;
}

const LIMIT: GroupLimit = { count: 4096, characters: 4 << 20 };

interface Pending<Request, Outcome> {
  requests: readonly Request[];
  resolve(outcomes: Outcome[]): void;
  reject(error: unknown): void;
}

export class BatchWriter<Request, Outcome> {
  readonly #write: (writer: LogWriter, requests: readonly Request[]) => Promise<Outcome[]>;
  readonly #charactersOf: (request: Request) => number;
  readonly #limit: GroupLimit;
  /** In the order of arrival. */
  readonly #waiting = new Set<Pending<Request, Outcome>>();

  /** @param write carries out the requests in their order, and returns one outcome for each. */
  constructor(
    write: (writer: LogWriter, requests: readonly Request[]) => Promise<Outcome[]>,
    charactersOf: (request: Request) => number,
    limit = LIMIT,
  ) {
    this.#write = write;
    this.#charactersOf = charactersOf;
    this.#limit = limit;
  }

  /** Resolves once all the requests are stored. @throws QueueFull, and what the write throws */
  write(store: LogStore, requests: readonly Request[]): Promise<Outcome[]> {
    return new Promise((resolve, reject) => {
      const pending: Pending<Request, Outcome> = { requests, resolve, reject };
      this.#waiting.add(pending);
      const turn = store.exclusively(async (writer) => {
        // An earlier group may have included it.
        if (this.#waiting.has(pending)) await this.#writeGroup(writer);
      });
      turn.catch((error: unknown) => {
        if (this.#waiting.delete(pending)) reject(error);
      });
    });
  }

  async #writeGroup(writer: LogWriter): Promise<void> {
    const group = this.#takeGroup();
    try {
      const outcomes = await this.#write(
        writer,
        group.flatMap(({ requests }) => requests),
      );
      let from = 0;
      for (const { requests, resolve } of group) {
        resolve(outcomes.slice(from, from + requests.length));
        from += requests.length;
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  #takeGroup(): Pending<Request, Outcome>[] {
    const group: Pending<Request, Outcome>[] = [];
    let { count, characters } = this.#limit;
    for (const pending of this.#waiting) {
      count -= pending.requests.length;
      characters -= pending.requests.reduce((sum, request) => sum + this.#charactersOf(request), 0);
      if (group.length > 0 && (count < 0 || characters < 0)) break;
      this.#waiting.delete(pending);
      group.push(pending);
    }
    return group;
  }
}

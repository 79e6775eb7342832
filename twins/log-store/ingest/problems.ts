/** What is wrong with a file: the first hundred places, and how many there are. */
import { type DatasetProblem, DatasetRefusal } from "@offhook/platform/twin/dataset";

/** Something is wrong with an event: at a byte of its line. */
export class EventProblem extends Error {
  readonly at: number;
  constructor(at: number, rule: string) {
    super(rule);
    this.at = at;
  }
}

const KEPT = 100;

export class Problems {
  readonly #kept: DatasetProblem[] = [];
  #total = 0;

  get total(): number {
    return this.#total;
  }

  add(problem: DatasetProblem): void {
    this.#total++;
    if (this.#kept.length < KEPT) this.#kept.push(problem);
  }

  /** @throws DatasetRefusal when there is any. */
  refuseAny(): void {
    if (this.#total === 0) return;
    const places = this.#total === 1 ? "one place" : `${this.#total} places`;
    const kept = this.#kept.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
    throw new DatasetRefusal(
      `the file is wrong in ${places}, and nothing of it was stored`,
      kept,
      this.#total,
    );
  }
}

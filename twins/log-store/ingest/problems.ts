/** The problems of a file: the first hundred, and their number. */
import { type DatasetProblem, DatasetRefusal } from "@offhook/platform/twin/dataset";

/** A problem at a byte of an event's line. */
export class EventProblem extends Error {
  readonly at: number;
  constructor(at: number, rule: string) {
    super(rule);
    this.at = at;
  }
}

const MAX_LISTED = 100;

export class Problems {
  readonly #listed: DatasetProblem[] = [];
  #total = 0;

  get total(): number {
    return this.#total;
  }

  add(problem: DatasetProblem): void {
    this.#total++;
    if (this.#listed.length < MAX_LISTED) this.#listed.push(problem);
  }

  /** @throws DatasetRefusal when there is any. */
  refuseAny(): void {
    if (this.#total === 0) return;
    const places = this.#total === 1 ? "one place" : `${this.#total} places`;
    const listed = this.#listed.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
    throw new DatasetRefusal(
      `the file is wrong in ${places}, and nothing of it was stored`,
      listed,
      this.#total,
    );
  }
}

/** Something is wrong at a byte of the line. */
export class EventProblem extends Error {
  readonly at: number;
  constructor(at: number, rule: string) {
    super(rule);
    this.at = at;
  }
}

/** What the journal says of a request beyond what was sent. */
import type { DroppedClause } from "../query/compiled-query.ts";

interface Entries {
  /** The statements the request became, in the order in which they ran. */
  sql?: string[];
  /** Clauses that `specification` left out. */
  dropped?: DroppedClause[];
  /** The outcome of each question to the translator. */
  translator?: object[];
}

export class SearchNotes {
  readonly #entries: Entries = {};

  /** The notes as the journal shows them; `undefined` without any. */
  get entries(): Readonly<Entries> | undefined {
    return Object.keys(this.#entries).length > 0 ? this.#entries : undefined;
  }

  addSql(statements: readonly string[]): void {
    this.#entries.sql = [...(this.#entries.sql ?? []), ...statements];
  }

  addTranslation(outcome: object): void {
    this.#entries.translator = [...(this.#entries.translator ?? []), outcome];
  }

  addDropped(dropped: readonly DroppedClause[]): void {
    if (dropped.length > 0) this.#entries.dropped = [...(this.#entries.dropped ?? []), ...dropped];
  }
}

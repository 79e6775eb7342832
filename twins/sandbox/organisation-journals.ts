/** What each organisation asked of the routes that belong to no twin: of sandboxes and of environments. */
import { liveClock } from "./clock.ts";
import { Journal } from "./journal.ts";
import { createMask } from "./mask.ts";

/** What a body or an answer holds of secrets: a database's address has its password in it. */
const mask = createMask({ secretMembers: ["config", "environment", "url"] });

export class OrganisationJournals {
  readonly #journals = new Map<string, Journal>();

  of(organisation: string): Journal {
    let journal = this.#journals.get(organisation);
    if (!journal) {
      journal = new Journal(mask, liveClock);
      this.#journals.set(organisation, journal);
    }
    return journal;
  }
}

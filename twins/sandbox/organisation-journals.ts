/** What each organisation asked of the routes that belong to no twin: of sandboxes and of environments. */
import { liveClock } from "./clock.ts";
import { getOrAdd } from "./get-or-add.ts";
import { Journal } from "./journal.ts";
import { createMask } from "./mask.ts";

/** What a body or an answer holds of secrets: a database's address has its password in it. */
const mask = createMask({ secretMembers: ["config", "environment", "url"] });

export class OrganisationJournals {
  readonly #journals = new Map<string, Journal>();

  of(organisation: string): Journal {
    return getOrAdd(this.#journals, organisation, () => new Journal(mask, liveClock));
  }
}

/** What each organisation asked of the routes that belong to no twin: of sandboxes and of environments. */
import { liveClock } from "../base/clock.ts";
import { getOrAdd } from "../base/get-or-add.ts";
import { Journal } from "./journal.ts";
import type { PlatformKeys } from "./known-secrets.ts";
import { createMask, type Mask } from "./mask.ts";

export class OrganisationJournals {
  readonly #journals = new Map<string, Journal>();

  readonly #mask: Mask;

  constructor(keys: PlatformKeys) {
    // What a body or an answer holds of secrets: a database's address has its password in it.
    this.#mask = createMask({ secretMembers: ["config", "environment", "url"] }, keys);
  }

  of(organisation: string): Journal {
    return getOrAdd(this.#journals, organisation, () => new Journal(this.#mask, liveClock));
  }
}

/** Journals of each organisation's requests to routes that belong to no twin: `/sandboxes` and `/environments`. */
import { liveClock } from "../base/clock.ts";
import { getOrAdd } from "../base/get-or-add.ts";
import { Journal } from "./journal.ts";
import type { PlatformKeys } from "./known-secrets.ts";
import { createMask, type Mask } from "./mask.ts";

export class OrganisationJournals {
  readonly #journals = new Map<string, Journal>();

  readonly #mask: Mask;

  constructor(keys: PlatformKeys) {
    // These members can hold secrets: a database's URL contains its password.
    this.#mask = createMask({ secretMembers: ["config", "environment", "url"] }, keys);
  }

  of(organisation: string): Journal {
    return getOrAdd(this.#journals, organisation, () => new Journal(this.#mask, liveClock));
  }
}

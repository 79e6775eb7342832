/** The log-query twin at work in one sandbox, as its API sees it. */
import type { LogStore } from "@offhook/log-store/store/log-store";
import type { CollectorTwin } from "./collector/collector-twin.ts";
import type { SavedSearchTwin } from "./saved/saved-search-twin.ts";
import type { AccountRights } from "./world/access.ts";
import type { NamespacedKnowledge } from "./world/knowledge.ts";
import type { SecretVault } from "./world/secret-vault.ts";

export interface LogQueryTwin extends CollectorTwin, SavedSearchTwin {
  /** The events. The first request that needs the store opens it. */
  store(): Promise<LogStore>;
  /** The objects that searches refer to by name, read from `tables`. */
  readonly knowledge: NamespacedKnowledge;
  readonly rights: AccountRights;
  /** The clear text of tokens and passwords whose digests are rows. */
  readonly secrets: SecretVault;
  /** HTTP address of the vendor API, without a slash at the end. */
  readonly address: string;
  /** When the twin was started, or restarted by a client, on the sandbox's clock. */
  startedMs: number;
  /** Index of events that name none. */
  readonly index: string;
}

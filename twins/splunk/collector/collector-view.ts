import type { HecTokenRow } from "../world/collector-tables.ts";
import type { LogQueryTables } from "../world/tables.ts";
import { type CollectorSettings, readCollectorSettings } from "./settings.ts";

interface Snapshot {
  readonly version: number;
  readonly settings: CollectorSettings;
  readonly tokensByDigest: ReadonlyMap<string, HecTokenRow>;
  readonly declaredIndexes: ReadonlySet<string>;
}

/** What every request to the event collector reads from the tables: computed once for each state of them. */
export class CollectorView {
  readonly #tables: LogQueryTables;
  #snapshot: Snapshot | undefined;

  constructor(tables: LogQueryTables) {
    this.#tables = tables;
  }

  get settings(): CollectorSettings {
    return this.#current.settings;
  }

  /** By SHA-256 of the token, in hexadecimal. */
  get tokensByDigest(): ReadonlyMap<string, HecTokenRow> {
    return this.#current.tokensByDigest;
  }

  /** The indexes of the table that are not disabled. */
  get declaredIndexes(): ReadonlySet<string> {
    return this.#current.declaredIndexes;
  }

  get #current(): Snapshot {
    const version = this.#tables.stateVersion;
    if (this.#snapshot?.version === version) return this.#snapshot;
    const tokens = this.#tables.table("hec_tokens").all();
    const indexes = this.#tables.table("indexes").all();
    this.#snapshot = {
      version,
      settings: readCollectorSettings(this.#tables),
      tokensByDigest: new Map(tokens.map((row) => [row.token_sha256, row])),
      declaredIndexes: new Set(indexes.flatMap(({ name, disabled }) => (disabled ? [] : [name]))),
    };
    return this.#snapshot;
  }
}

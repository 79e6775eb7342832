/** A twin's store, opened by the first request that needs it, so that a sandbox that never searches pays nothing. */
import type { TwinHealth } from "@offhook/platform/twin/twin";
import type { LogStoreOptions } from "./duckdb-log-store.ts";
import { type LogStore, StoreFull } from "./log-store.ts";

export class LazyStore {
  readonly #options: Omit<LogStoreOptions, "baselineFile">;
  readonly #baselineFile: () => string | undefined;
  #opening: Promise<LogStore> | undefined;
  #opened: LogStore | undefined;
  /** Whether the last attempt to open it failed. */
  #failed = false;
  readonly #whenOpened = new Set<(store: LogStore) => void>();

  /** @param baselineFile returns the current dataset's file; `undefined`: there is no dataset */
  constructor(options: Omit<LogStoreOptions, "baselineFile">, baselineFile: () => string | undefined) {
    this.#options = options;
    this.#baselineFile = baselineFile;
  }

  /** The store, if it is open. */
  get opened(): LogStore | undefined {
    return this.#opened;
  }

  /** Opens the store if it is not open. After a failure the next call tries again. */
  readonly open = (): Promise<LogStore> => {
    this.#opening ??= this.#open();
    return this.#opening;
  };

  /** Calls `listener` with the store when it is opened, at once if it is; does not open it. */
  readonly whenOpened = (listener: (store: LogStore) => void): void => {
    this.#whenOpened.add(listener);
    if (this.#opened) listener(this.#opened);
  };

  /** Restores the current dataset. A store that was never opened will open on it. */
  async reset(): Promise<void> {
    await (await this.#opening)?.reset({ file: this.#baselineFile() });
  }

  /** Whether the store accepts writes. Retries to open it when the last attempt failed. */
  readonly health = async (): Promise<TwinHealth> => {
    try {
      const refusal = await (this.#failed ? await this.open() : this.#opened)?.refusal();
      return refusal ? { status: "degraded", problem: refusal.message } : { status: "ok" };
    } catch (error) {
      const problem = error instanceof StoreFull ? error.message : "the twins' log says why";
      return { status: "down", problem: `the log store cannot be opened: ${problem}` };
    }
  };

  async close(): Promise<void> {
    await (await this.#opening)?.close();
  }

  async #open(): Promise<LogStore> {
    try {
      // Imported here because it loads DuckDB.
      const { openLogStore } = await import("./duckdb-log-store.ts");
      const baselineFile = this.#baselineFile();
      this.#opened = await openLogStore({
        ...this.#options,
        ...(baselineFile === undefined ? {} : { baselineFile }),
      });
      this.#failed = false;
      for (const listener of this.#whenOpened) listener(this.#opened);
      return this.#opened;
    } catch (error) {
      this.#opening = undefined;
      this.#failed = true;
      throw error;
    }
  }
}

/** The database of a world: connections that are restored after a loss, and a catalogue that is cached until definitions change. */
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { TwinHealth } from "@offhook/platform/twin/twin";
import { WorldUnavailable } from "@offhook/platform/world/world";
import type pg from "pg";
import type { Logger } from "pino";
import { type Catalogue, readCatalogue, type Sequence } from "./catalogue.ts";
import { everyTable, type Notice } from "./change-feed.ts";
import { type Change, changesOf } from "./changes.ts";
import { type Connection, openConnection } from "./connection.ts";
import { refusalOf } from "./refusals.ts";
import { lockSequences } from "./sequences.ts";
import { ConnectionLost, explainLocks, isLockConflict, unavailableOr } from "./unavailable.ts";

export interface DatabaseServer {
  /** Whether the administrator may create event triggers, and so watch definitions. */
  superuser: boolean;
  /** Why the server does not run and what to do, if that is known. */
  outage(): string | undefined;
}

export interface Transaction {
  client: pg.ClientBase;
  catalogue: Catalogue;
  /** Makes these sequences transactional (see `lockSequences`). @returns whether they are */
  lockSequencesOf(sequences: readonly Sequence[]): Promise<boolean>;
}

/** A database that replaces the present one. */
export interface Successor {
  catalogue: Catalogue;
  putInPlace(): Promise<void>;
}

/** Longest wait of a health check. */
const HEALTH_MS = 3_000;

/**
 * Longest wait for a lock while sequences are locked. Shorter than Postgres' `deadlock_timeout`: so in a deadlock with a transaction of
 * the code under test, which waits for a sequence, that transaction is never the victim.
 */
const SEQUENCE_LOCK_WAIT_MS = 500;

export interface DatabaseOptions {
  /** Connection string of a role that may do anything in the database. */
  url: string;
  server: DatabaseServer;
  log: Logger;
  /** Called with the changes of each committed statement, of any client. */
  announce(changes: readonly Change[]): void;
}

export class WorldDatabase {
  readonly #url: string;
  readonly #log: Logger;
  /** Whether the database notifies of changed definitions; if not, they are read each time. */
  readonly #watchesDefinitions: boolean;
  readonly #outage: () => string | undefined;
  readonly #announce: (changes: readonly Change[]) => void;
  #connection: Promise<Connection>;
  #catalogue: Promise<Catalogue> | undefined;
  readonly #running = new Set<Promise<unknown>>();

  /** Connects, and starts to watch for changes. */
  constructor({ url, server: { superuser, outage }, log, announce }: DatabaseOptions) {
    this.#url = url;
    this.#log = log;
    this.#watchesDefinitions = superuser;
    this.#outage = outage;
    this.#announce = announce;
    this.#connection = this.#open();
  }

  /** Resolves when it is connected. @throws ConnectionLost */
  async opened(): Promise<void> {
    await this.#connection;
  }

  /** Runs `work` on a connection, after watchers got all changes committed before. @throws WorldUnavailable */
  read<T>(work: (client: pg.ClientBase, catalogue: Catalogue) => Promise<T>): Promise<T> {
    return this.#use(async (connection) => {
      await connection.catchUp();
      return connection.with(async (client) => work(client, await this.#currentCatalogue(client)));
    });
  }

  /**
   * Runs `work` in a transaction, with the sequences that it names locked, so that a refused write leaves them as they were. If an open
   * transaction of the code under test has taken a number, the lock fails and the work runs again without it: a refusal that
   * `predictProblems` cannot foresee then loses a number.
   */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#use(async (connection) => {
      await connection.catchUp();
      const answer = await connection.with(async (client) => {
        const catalogue = await this.#currentCatalogue(client);
        let isLocked = false;
        try {
          return await inTransaction(client, () =>
            work({
              client,
              catalogue,
              lockSequencesOf: async (sequences) => {
                isLocked = sequences.length > 0;
                if (isLocked) await client.query(`SET LOCAL lock_timeout = ${SEQUENCE_LOCK_WAIT_MS}`);
                await lockSequences(client, sequences);
                return true;
              },
            }),
          );
        } catch (error) {
          if (!isLocked || !isLockConflict(error)) throw error;
        }
        return inTransaction(client, () => work({ client, catalogue, lockSequencesOf: async () => false }));
      });
      await connection.catchUp();
      return answer;
    });
  }

  /** Registers running work, which a replacement of the database waits for. */
  async #use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const running = this.#connected().then(work);
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      const reason = unavailableOr(refusalOf(error), this.#outage());
      throw isLockConflict(error) ? await this.#withLockHolders(reason) : reason;
    } finally {
      this.#running.delete(running);
    }
  }

  /** Adds the holders of the lock to an error, if they still hold it. */
  async #withLockHolders(reason: unknown): Promise<unknown> {
    const connection = await this.#connected();
    const holders = await connection.with(explainLocks).catch(() => undefined);
    if (!holders || !(reason instanceof Error)) return reason;
    return new WorldUnavailable(`${reason.message}: ${holders}`, { cause: reason });
  }

  /**
   * Disconnects while the database is replaced; requests wait meanwhile.
   * @throws what `putInPlace` throws; then the present database stays in use
   */
  async replaceDatabase({ catalogue, putInPlace }: Successor): Promise<void> {
    const before = this.#connection;
    const running = [...this.#running];
    const disconnecting = (async () => {
      await Promise.allSettled(running);
      await closeIfOpen(before);
    })();
    const replacing = disconnecting.then(putInPlace);
    const opening = replacing.catch(() => {}).then(() => this.#open());
    opening.catch(() => {}); // The next request gets the error.
    this.#connection = opening;
    await replacing;
    await (await opening).with(async (client) => {
      this.#catalogue = this.isUnchanged(client).then((unchanged) =>
        unchanged ? catalogue : readCatalogue(client),
      );
      const { tables } = await this.#currentCatalogue(client);
      this.#announce([...tables.keys()].map((table) => ({ table, change: "reset" })));
    });
  }

  /** Queries the database to find out whether it answers. */
  async health(): Promise<TwinHealth> {
    const asking = new AbortController();
    const tooLate = pause(HEALTH_MS, undefined, { signal: asking.signal, ref: false }).then(() => {
      throw new ConnectionLost(`no answer in ${HEALTH_MS / 1000} seconds`);
    });
    const answer = this.#connected().then((connection) => connection.catchUp());
    tooLate.catch(() => {}); // Lost the race against the answer.
    answer.catch(() => {}); // Lost the race against the timeout.
    try {
      await Promise.race([answer, tooLate]);
      return { status: "ok" };
    } catch (error) {
      const reason = unavailableOr(error, this.#outage());
      return { status: "down", problem: reason instanceof Error ? reason.message : String(reason) };
    } finally {
      asking.abort();
    }
  }

  /** Resolves when the present requests, and those of the same turn of the event loop, are done. */
  async settled(): Promise<void> {
    await nextTurn();
    await Promise.allSettled([...this.#running]);
  }

  /** @throws Error when a connection could not be closed in good order */
  async close(): Promise<void> {
    await closeIfOpen(this.#connection);
  }

  #open(): Promise<Connection> {
    this.#catalogue = undefined;
    return openConnection(this.#url, this.#log, (notice) => this.#receive(notice));
  }

  /** The connection; reopened if the last attempt failed. */
  #connected(): Promise<Connection> {
    const last = this.#connection;
    return last.catch(() => {
      if (this.#connection === last) {
        this.#connection = this.#open().then((connection) => {
          this.#announce([{ table: everyTable, change: "reset" }]);
          return connection;
        });
        this.#connection.catch(() => {}); // The callers get the error.
      }
      return this.#connection;
    });
  }

  /** Whether the definitions are still those of the start. */
  async isUnchanged(client: pg.ClientBase): Promise<boolean> {
    if (!this.#watchesDefinitions) return false;
    const { rows } = await client.query<{ is_called: boolean }>(
      "SELECT is_called FROM offhook_watch.definition",
    );
    return rows[0]?.is_called === false;
  }

  async #currentCatalogue(client: pg.ClientBase): Promise<Catalogue> {
    if (!this.#watchesDefinitions) {
      await client.query("SELECT offhook_watch.adopt()");
      return readCatalogue(client);
    }
    const reading = this.#catalogue ?? readCatalogue(client);
    this.#catalogue = reading;
    reading.catch(() => {
      if (this.#catalogue === reading) this.#catalogue = undefined;
    });
    return reading;
  }

  #receive(notice: Notice): void {
    // After missed notices, which may include one of a definition, everything may have changed.
    const mayBeDefinition = notice.change === "load" && notice.tables.includes(everyTable);
    if (notice.change === "definition" || mayBeDefinition) this.#catalogue = undefined;
    this.#announce(changesOf(notice));
  }
}

async function inTransaction<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query("BEGIN");
  try {
    const result = await work();
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {}); // A lost connection has rolled back already.
    throw error;
  }
}

/** A connection that could not be opened needs no closing. */
async function closeIfOpen(opening: Promise<Connection>): Promise<void> {
  const connection = await opening.catch(() => undefined);
  await connection?.close();
}

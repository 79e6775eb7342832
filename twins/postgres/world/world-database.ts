/** One database as its world asks it: connections that come back, and what tables there are, known until they change. */
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
import { holdSequences } from "./sequences.ts";
import { ConnectionLost, explainLocks, isLockConflict, unavailableOr } from "./unavailable.ts";

/** What a world has to know of the server its database is on. */
export interface DatabaseServer {
  /** Whether the administrator may watch definitions. */
  superuser: boolean;
  /** Why the server does not run at the moment and what to do, where that is known. */
  outage(): string | undefined;
}

/** A write under way. */
export interface Transaction {
  client: pg.ClientBase;
  catalogue: Catalogue;
  /** Makes the numbers that are taken from these sequences part of the transaction; answers whether they are. */
  hold(sequences: readonly Sequence[]): Promise<boolean>;
}

/** What a world's database is replaced by. */
export interface Successor {
  /** The tables it has. */
  catalogue: Catalogue;
  putInPlace(): Promise<void>;
}

/** Longest wait for a database that is asked whether it is there. */
const HEALTH_MS = 3_000;

/**
 * Longest wait for a lock while sequences are held. Shorter than Postgres' `deadlock_timeout`, so that a transaction of the code
 * under test that waits for a sequence meanwhile, and holds that lock, is never the one that a deadlock ends.
 */
const HOLDING_LOCK_MS = 500;

export interface DatabaseOptions {
  /** Connection string of a role that may do anything in the database. */
  url: string;
  server: DatabaseServer;
  log: Logger;
  /** Is told of each committed change, whoever made it. */
  tell(change: Change): void;
}

export class WorldDatabase {
  readonly #url: string;
  readonly #log: Logger;
  /** Whether the database tells of changed definitions; if not, they are read anew each time. */
  readonly #watchesDefinitions: boolean;
  readonly #outage: () => string | undefined;
  readonly #tell: (change: Change) => void;
  #connection: Promise<Connection>;
  #catalogue: Promise<Catalogue> | undefined;
  readonly #running = new Set<Promise<unknown>>();

  /** Connects, and watches from then on. */
  constructor({ url, server: { superuser, outage }, log, tell }: DatabaseOptions) {
    this.#url = url;
    this.#log = log;
    this.#watchesDefinitions = superuser;
    this.#outage = outage;
    this.#tell = tell;
    this.#connection = this.#open();
  }

  /** Resolves when it is connected. @throws ConnectionLost */
  async opened(): Promise<void> {
    await this.#connection;
  }

  /** Runs `work` on a connection; who watches has been told of all that was committed before. @throws WorldUnavailable */
  read<T>(work: (client: pg.ClientBase, catalogue: Catalogue) => Promise<T>): Promise<T> {
    return this.#use(async (connection) => {
      await connection.catchUp();
      return connection.with(async (client) => work(client, await this.#currentCatalogue(client)));
    });
  }

  /**
   * Runs `work` in a transaction. The sequences it asks for are held, so that it leaves them as they were when it is refused.
   * A transaction of the code under test that stays open after it has taken a number keeps them from being held. Such a
   * write is done without: a number is lost then if it is refused for a reason that cannot be foreseen.
   */
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#use(async (connection) => {
      await connection.catchUp();
      const answer = await connection.with(async (client) => {
        const catalogue = await this.#currentCatalogue(client);
        let held = false;
        try {
          return await inTransaction(client, () =>
            work({
              client,
              catalogue,
              hold: async (sequences) => {
                held = sequences.length > 0;
                if (held) await client.query(`SET LOCAL lock_timeout = ${HOLDING_LOCK_MS}`);
                await holdSequences(client, sequences);
                return true;
              },
            }),
          );
        } catch (error) {
          if (!held || !isLockConflict(error)) throw error;
        }
        return inTransaction(client, () => work({ client, catalogue, hold: async () => false }));
      });
      await connection.catchUp();
      return answer;
    });
  }

  /** Remembers what is under way, so that the database is not replaced beneath it. */
  async #use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const running = this.#connected().then(work);
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      const reason = unavailableOr(refusalOf(error), this.#outage());
      throw isLockConflict(error) ? await this.#withLocks(reason) : reason;
    } finally {
      this.#running.delete(running);
    }
  }

  /** What a lock has kept from being done, with who holds it, when that is still to be seen. */
  async #withLocks(reason: unknown): Promise<unknown> {
    const connection = await this.#connected();
    const holders = await connection.with(explainLocks).catch(() => undefined);
    if (!holders || !(reason instanceof Error)) return reason;
    return new WorldUnavailable(`${reason.message}: ${holders}`, { cause: reason });
  }

  /**
   * Lets go of the database while it is replaced; whoever asks the world something meanwhile waits.
   * @throws what `putInPlace` throws; the world goes on with the database that is there
   */
  async whileReplaced({ catalogue, putInPlace }: Successor): Promise<void> {
    const before = this.#connection;
    const running = [...this.#running];
    const letGo = (async () => {
      await Promise.allSettled(running);
      await closeIfOpen(before);
    })();
    const replacing = letGo.then(putInPlace);
    const opening = replacing.catch(() => {}).then(() => this.#open());
    opening.catch(() => {}); // The next question to the world meets the error.
    this.#connection = opening;
    await replacing;
    await (await opening).with(async (client) => {
      this.#catalogue = this.isUnchanged(client).then((unchanged) =>
        unchanged ? catalogue : readCatalogue(client),
      );
      const { tables } = await this.#currentCatalogue(client);
      for (const table of tables.keys()) this.#tell({ table, change: "reset" });
    });
  }

  /** Whether the database answers, found out by asking it. */
  async health(): Promise<TwinHealth> {
    const asking = new AbortController();
    const tooLate = pause(HEALTH_MS, undefined, { signal: asking.signal, ref: false }).then(() => {
      throw new ConnectionLost(`no answer in ${HEALTH_MS / 1000} seconds`);
    });
    const answer = this.#connected().then((connection) => connection.catchUp());
    tooLate.catch(() => {}); // It is of no use any more when the answer has come.
    answer.catch(() => {}); // Nor is the answer, when it comes too late.
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

  /** Resolves when what it is asked at the moment, and in the same turn, has its answer. */
  async rest(): Promise<void> {
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

  /** The connection, opened again when it could not be opened last time. */
  #connected(): Promise<Connection> {
    const last = this.#connection;
    return last.catch(() => {
      if (this.#connection === last) {
        this.#connection = this.#open().then((connection) => {
          this.#tell({ table: everyTable, change: "reset" });
          return connection;
        });
        this.#connection.catch(() => {}); // Whoever waits for it has the error.
      }
      return this.#connection;
    });
  }

  /** Whether its definitions are still those that the database was made with. */
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
    // Notices were missed, that of a definition perhaps among them, when all of it may have changed.
    const mayBeDefinition = notice.change === "load" && notice.tables.includes(everyTable);
    if (notice.change === "definition" || mayBeDefinition) this.#catalogue = undefined;
    for (const change of changesOf(notice)) this.#tell(change);
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

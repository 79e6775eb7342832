/** A world whose tables are those of a real Postgres database, whoever made and fills them. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import {
  type Page,
  type PageRequest,
  type Row,
  type TableDescription,
  type Tables,
  type World,
  type WorldChange,
  WorldRefusal,
} from "../../sandbox/world.ts";
import { type Catalogue, readCatalogue } from "./catalogue.ts";
import type { Notice } from "./change-feed.ts";
import { changeRows } from "./change-rows.ts";
import { type Change, changesOf } from "./changes.ts";
import { checkRows, checkValues } from "./checked-rows.ts";
import { type Connection, openConnection } from "./connection.ts";
import { describeTables } from "./describe.ts";
import { insertRows } from "./insert-rows.ts";
import { fixedSequences, keyChanges, refusalOf, refuseIfAny, tableNamed } from "./refusals.ts";
import { removeRows } from "./remove-rows.ts";
import { replaceRows } from "./replace-rows.ts";
import { readRows, textSelection } from "./select-rows.ts";
import { positionsOf, readSequences, sequenceTableName, setPositions } from "./sequences.ts";

export class PostgresWorld implements World {
  #stateVersion = 1;
  #connection: Promise<Connection>;
  #catalogue: Promise<Catalogue> | undefined;
  readonly #listeners = new Set<(change: WorldChange) => void>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #url: string;
  readonly #log: Logger;
  /** Whether the database tells of changed definitions; if not, they are read anew each time. */
  readonly #watchesDefinitions: boolean;

  private constructor(url: string, watchesDefinitions: boolean, log: Logger) {
    this.#url = url;
    this.#log = log;
    this.#watchesDefinitions = watchesDefinitions;
    this.#connection = this.#open();
  }

  /**
   * Connects, and watches from then on.
   * @param url connection string of a role that may do anything in the database
   */
  static async open(url: string, watchesDefinitions: boolean, log: Logger): Promise<PostgresWorld> {
    const world = new PostgresWorld(url, watchesDefinitions, log);
    await world.#connection;
    return world;
  }

  get stateVersion(): number {
    return this.#stateVersion;
  }

  schema(): Promise<TableDescription[]> {
    return this.#read((client, catalogue) => describeTables(client, catalogue));
  }

  counts(): Promise<Record<string, number>> {
    return this.#read(async (client, catalogue) => {
      const counts: [string, number][] = [];
      for (const table of catalogue.tables.values()) {
        const { rows } = await client.query<{ total: string }>(`SELECT count(*) AS total FROM ${table.sql}`);
        counts.push([table.name, Number(rows[0]?.total)]);
      }
      if (catalogue.sequences.length > 0) counts.push([sequenceTableName, catalogue.sequences.length]);
      return Object.fromEntries(counts);
    });
  }

  rows(name: string, page: PageRequest): Promise<Page> {
    return this.#read(async (client, catalogue) => {
      if (name === sequenceTableName && catalogue.sequences.length > 0) {
        const rows = (await readSequences(client, catalogue.sequences)).filter((row) =>
          Object.entries(page.where).every(([column, text]) => String(row[column]) === text),
        );
        return { rows: rows.slice(page.offset, page.offset + page.limit), total: rows.length };
      }
      const table = tableNamed(catalogue, name);
      const selection = await textSelection(client, table, page.where);
      return readRows(client, table, selection, page);
    });
  }

  insert(data: Tables): Promise<Record<string, number>> {
    return this.#write(async (client, catalogue) => {
      const { [sequenceTableName]: sequences, ...rest } = data;
      const { rows, problems } = await checkRows(client, catalogue, rest);
      refuseIfAny(sequences ? [...problems, fixedSequences] : problems);
      refuseIfAny(await insertRows(client, rows));
      return Object.fromEntries(Object.entries(data).map(([name, given]) => [name, given.length]));
    });
  }

  async update(name: string, where: Row, changes: Row): Promise<number> {
    if (name === sequenceTableName) return this.#moveSequences(where, changes);
    return this.#write(async (client, catalogue) => {
      const table = tableNamed(catalogue, name);
      const condition = await checkValues(client, table, where);
      const change = await checkValues(client, table, changes);
      refuseIfAny([...condition.problems, ...change.problems, ...keyChanges(table, changes)]);
      if (change.texts.size === 0) return 0;
      const { changed, problems } = await changeRows(client, table, condition.texts, change.texts);
      refuseIfAny(problems);
      return changed;
    });
  }

  remove(name: string, where: Row): Promise<number> {
    return this.#write(async (client, catalogue) => {
      if (name === sequenceTableName) throw new WorldRefusal([fixedSequences]);
      const table = tableNamed(catalogue, name);
      const { texts, problems } = await checkValues(client, table, where);
      refuseIfAny(problems);
      const outcome = await removeRows(client, catalogue, table, texts);
      refuseIfAny(outcome.problems);
      return outcome.removed;
    });
  }

  dump(): Promise<Tables> {
    return this.#read(async (client, catalogue) => {
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      try {
        const tables: [string, Row[]][] = [];
        for (const table of catalogue.tables.values()) {
          const { rows } = await readRows(client, table, { sql: "", values: [] }, "stored");
          tables.push([table.name, rows]);
        }
        const sequences = await readSequences(client, catalogue.sequences);
        if (sequences.length > 0) tables.push([sequenceTableName, sequences]);
        return Object.fromEntries(tables);
      } finally {
        await client.query("ROLLBACK");
      }
    });
  }

  /** Sequences stay where they are, unless `data` has a row of `pg_sequences` for them, as each snapshot has. */
  load(data: Tables): Promise<void> {
    return this.#write(async (client, catalogue) => {
      const { [sequenceTableName]: sequenceRows = [], ...rest } = data;
      const { positions, problems: sequenceProblems } = positionsOf(sequenceRows, catalogue.sequences);
      const { rows, problems } = await checkRows(client, catalogue, rest);
      refuseIfAny([...problems, ...sequenceProblems]);
      refuseIfAny(await replaceRows(client, catalogue, rows));
      await setPositions(client, positions);
    });
  }

  watch(listener: (change: WorldChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
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
      this.#catalogue = this.#isUnchanged(client).then((unchanged) =>
        unchanged ? catalogue : readCatalogue(client),
      );
      const { tables } = await this.#currentCatalogue(client);
      for (const table of tables.keys()) this.#tell({ table, change: "reset" });
    });
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

  /** Whether its definitions are still those that the database was made with. */
  async #isUnchanged(client: pg.ClientBase): Promise<boolean> {
    if (!this.#watchesDefinitions) return false;
    const { rows } = await client.query<{ is_called: boolean }>(
      "SELECT is_called FROM offhook_watch.definition",
    );
    return rows[0]?.is_called === false;
  }

  #read<T>(work: (client: pg.ClientBase, catalogue: Catalogue) => Promise<T>): Promise<T> {
    return this.#use(async (connection) => {
      await connection.catchUp();
      return connection.with(async (client) => work(client, await this.#currentCatalogue(client)));
    });
  }

  #write<T>(work: (client: pg.ClientBase, catalogue: Catalogue) => Promise<T>): Promise<T> {
    return this.#use(async (connection) => {
      await connection.catchUp();
      const answer = await connection.with(async (client) => {
        const catalogue = await this.#currentCatalogue(client);
        await client.query("BEGIN");
        try {
          const result = await work(client, catalogue);
          await client.query("COMMIT");
          return result;
        } catch (error) {
          await client.query("ROLLBACK").catch(() => {}); // A lost connection has rolled back already.
          throw error;
        }
      });
      await connection.catchUp();
      return answer;
    });
  }

  /** Remembers what is under way, so that the database is not replaced beneath it. */
  async #use<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const running = this.#connection.then(work);
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      throw refusalOf(error);
    } finally {
      this.#running.delete(running);
    }
  }

  #moveSequences(where: Row, changes: Row): Promise<number> {
    return this.#write(async (client, catalogue) => {
      const all = await readSequences(client, catalogue.sequences);
      const chosen = all.filter((row) =>
        Object.entries(where).every(([column, value]) => row[column] === value),
      );
      const moved = chosen.map((row) => ({ ...row, ...changes, sequence: row.sequence }));
      const { positions, problems } = positionsOf(moved, catalogue.sequences);
      refuseIfAny(problems);
      await setPositions(client, positions);
      this.#tell({ table: sequenceTableName, change: "update" });
      return positions.length;
    });
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
    if (notice.change === "definition") this.#catalogue = undefined;
    for (const change of changesOf(notice)) this.#tell(change);
  }

  #tell(change: Change): void {
    this.#stateVersion++;
    for (const listener of this.#listeners) listener({ stateVersion: this.#stateVersion, ...change });
  }
}

/** What a world's database is replaced by. */
export interface Successor {
  /** The tables it has. */
  catalogue: Catalogue;
  putInPlace(): Promise<void>;
}

/** A connection that could not be opened needs no closing. */
async function closeIfOpen(opening: Promise<Connection>): Promise<void> {
  const connection = await opening.catch(() => undefined);
  await connection?.close();
}

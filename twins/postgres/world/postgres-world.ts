/** A world whose tables are those of a real Postgres database, whoever made and fills them. */

import type { TwinHealth } from "@offhook/platform/twin/twin";
import {
  missingRow,
  type Page,
  type PageRequest,
  type Problem,
  type Row,
  type RowChange,
  repeatedRow,
  type TableDescription,
  type Tables,
  unknownTable,
  type World,
  type WorldChange,
  WorldRefusal,
} from "@offhook/platform/world/world";
import type pg from "pg";
import type { Logger } from "pino";
import { foreseenProblems } from "./broken-rules.ts";
import { type Column, sequencesUsed, type Table } from "./catalogue.ts";
import { changeRows } from "./change-rows.ts";
import type { Change } from "./changes.ts";
import { checkRows, checkValues } from "./checked-rows.ts";
import {
  areSameChanges,
  changesFrom,
  type Definition,
  type DefinitionChange,
  definitionTable,
  definitionTableName,
  readChanges,
  readDefinitions,
} from "./definitions.ts";
import { describeTables } from "./describe.ts";
import { insertRows } from "./insert-rows.ts";
import { fixedDefinitions, fixedTables, keyChanges, refuseIfAny, tableNamed } from "./refusals.ts";
import { removeRows } from "./remove-rows.ts";
import { replaceRows } from "./replace-rows.ts";
import { readRows, textConditions, textSelection } from "./select-rows.ts";
import {
  holdSequences,
  movedPositions,
  positionsOf,
  readSequences,
  sequenceTable,
  sequenceTableName,
  setPositions,
} from "./sequences.ts";
import { type DatabaseServer, type Successor, WorldDatabase } from "./world-database.ts";

/** Where the world comes from. */
export interface Start {
  /** What its database defined. */
  definitions: readonly Definition[];
  /** Puts a database in its place that defines this otherwise and holds these tables. @throws WorldRefusal, and then nothing is changed */
  rebuild(changes: readonly DefinitionChange[], tables: Tables): Promise<void>;
}

export class PostgresWorld implements World {
  #stateVersion = 1;
  readonly #listeners = new Set<(change: WorldChange) => void>();
  readonly #database: WorldDatabase;
  readonly #start: Start;

  private constructor(url: string, server: DatabaseServer, start: Start, log: Logger) {
    this.#database = new WorldDatabase({ url, server, log, tell: (change) => this.#tell(change) });
    this.#start = start;
  }

  /**
   * Connects, and watches from then on.
   * @param url connection string of a role that may do anything in the database
   */
  static async open(url: string, server: DatabaseServer, start: Start, log: Logger): Promise<PostgresWorld> {
    const world = new PostgresWorld(url, server, start, log);
    await world.#database.opened();
    return world;
  }

  get stateVersion(): number {
    return this.#stateVersion;
  }

  schema(): Promise<TableDescription[]> {
    return this.#database.read((client, catalogue) => describeTables(client, catalogue));
  }

  counts(): Promise<Record<string, number>> {
    return this.#database.read(async (client, catalogue) => {
      const counts: [string, number][] = [];
      for (const table of catalogue.tables.values()) {
        const { rows } = await client.query<{ total: string }>(`SELECT count(*) AS total FROM ${table.sql}`);
        counts.push([table.name, Number(rows[0]?.total)]);
      }
      if (catalogue.sequences.length > 0) counts.push([sequenceTableName, catalogue.sequences.length]);
      counts.push([definitionTableName, (await this.#definitionChanges(client)).length]);
      return Object.fromEntries(counts);
    });
  }

  rows(name: string, page: PageRequest): Promise<Page> {
    return this.#database.read(async (client, catalogue) => {
      if (name === sequenceTableName && catalogue.sequences.length > 0) {
        return pageOf(sequenceTable, await readSequences(client, catalogue.sequences), page);
      }
      if (name === definitionTableName) {
        return pageOf(definitionTable, await this.#definitionChanges(client), page);
      }
      const table = tableNamed(catalogue, name);
      const selection = await textSelection(client, table, page.where);
      return readRows(client, table, selection, page);
    });
  }

  insert(data: Tables): Promise<Record<string, number>> {
    return this.#database.write(async ({ client, catalogue, hold }) => {
      const fixed = [...fixedTables].flatMap(([name, problem]) =>
        Object.hasOwn(data, name) ? [problem] : [],
      );
      const rest = Object.entries(data).filter(([name]) => !fixedTables.has(name));
      const { rows, problems } = await checkRows(client, catalogue, Object.fromEntries(rest));
      refuseIfAny([...problems, ...fixed]);
      const held = await hold(sequencesUsed(catalogue, [...new Set(rows.map(({ table }) => table))]));
      if (!held) refuseIfAny(await foreseenProblems(client, rows));
      refuseIfAny(await insertRows(client, rows));
      return Object.fromEntries(Object.entries(data).map(([name, given]) => [name, given.length]));
    });
  }

  async update(name: string, where: Row, changes: Row): Promise<number> {
    if (name === sequenceTableName) return this.#moveSequences(where, changes);
    if (name === definitionTableName) throw new WorldRefusal([fixedDefinitions]);
    return this.#database.write(async ({ client, catalogue, hold }) => {
      const table = tableNamed(catalogue, name);
      const condition = await checkValues(client, table, where);
      const change = await checkValues(client, table, changes);
      refuseIfAny([...condition.problems, ...change.problems, ...keyChanges(table, changes)]);
      if (change.texts.size === 0) return 0;
      await hold(sequencesUsed(catalogue, []));
      const { changed, problems } = await changeRows(client, table, condition.texts, change.texts);
      refuseIfAny(problems);
      return changed;
    });
  }

  remove(name: string, where: Row): Promise<number> {
    return this.#remove(name, async (client, table) => {
      const { texts, problems } = await checkValues(client, table, where);
      refuseIfAny(problems);
      return texts;
    });
  }

  #remove(
    name: string,
    conditionsOf: (client: pg.ClientBase, table: Table) => Promise<Map<Column, string | null>>,
  ): Promise<number> {
    return this.#database.write(async ({ client, catalogue, hold }) => {
      const fixed = fixedTables.get(name);
      if (fixed) throw new WorldRefusal([fixed]);
      const table = tableNamed(catalogue, name);
      const conditions = await conditionsOf(client, table);
      await hold(sequencesUsed(catalogue, []));
      const outcome = await removeRows(client, catalogue, table, conditions);
      refuseIfAny(outcome.problems);
      return outcome.removed;
    });
  }

  updateEach(changes: readonly RowChange[]): Promise<void> {
    return this.#database.write(async ({ client, catalogue, hold }) => {
      await hold(sequencesUsed(catalogue, []));
      const problems: Problem[] = [];
      const seen = new Set<string>();
      for (const given of changes) {
        const table = catalogue.tables.get(given.table);
        if (!table) {
          const rule = "its positions are changed one by one, with entity_type, where and changes";
          if (given.table === sequenceTableName) problems.push({ table: given.table, row: given.row, rule });
          else if (given.table === definitionTableName)
            problems.push({ ...fixedDefinitions, row: given.row });
          else problems.push(unknownTable(given.table, catalogue.tables.keys()));
          continue;
        }
        const name = JSON.stringify([given.table, ...Object.values(given.key)]);
        if (seen.has(name)) problems.push(repeatedRow(given));
        seen.add(name);
        const condition = await checkValues(client, table, given.key);
        const change = await checkValues(client, table, given.changes);
        const wrong = [...condition.problems, ...change.problems, ...keyChanges(table, given.changes)];
        if (wrong.length === 0 && change.texts.size > 0) {
          const outcome = await changeRows(client, table, condition.texts, change.texts);
          wrong.push(...outcome.problems);
          if (outcome.problems.length === 0 && outcome.changed === 0) wrong.push(missingRow(given));
        }
        problems.push(...wrong.map((problem) => ({ ...problem, row: given.row })));
      }
      refuseIfAny(problems);
    });
  }

  removeFound(name: string, filter: PageRequest["where"]): Promise<number> {
    return this.#remove(name, (client, table) => textConditions(client, table, filter));
  }

  dump(): Promise<Tables> {
    return this.#database.read(async (client, catalogue) => {
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      try {
        const tables: [string, Row[]][] = [];
        for (const table of catalogue.tables.values()) {
          const { rows } = await readRows(client, table, { sql: "", values: [] }, "stored");
          tables.push([table.name, rows]);
        }
        const sequences = await readSequences(client, catalogue.sequences);
        if (sequences.length > 0) tables.push([sequenceTableName, sequences]);
        tables.push([definitionTableName, await this.#definitionChanges(client)]);
        return Object.fromEntries(tables);
      } finally {
        await client.query("ROLLBACK");
      }
    });
  }

  /**
   * Sequences stay where they are, unless `data` has a row of `pg_sequences` for them, as each snapshot has. Definitions stay
   * as they are, unless `data` has `pg_definitions`: when these are others, the database is made anew.
   */
  async load(data: Tables): Promise<void> {
    const { [definitionTableName]: definitionRows, ...rest } = data;
    if (definitionRows === undefined) return this.#load(rest);
    const { changes, problems } = readChanges(definitionRows);
    refuseIfAny(problems);
    const now = await this.#database.read((client) => this.#definitionChanges(client));
    if (areSameChanges(now, changes)) await this.#load(rest);
    else await this.#start.rebuild(changes, rest);
  }

  #load(data: Tables): Promise<void> {
    return this.#database.write(async ({ client, catalogue }) => {
      const { [sequenceTableName]: sequenceRows = [], ...rest } = data;
      const { positions, problems: sequenceProblems } = positionsOf(sequenceRows, catalogue.sequences);
      const { rows, problems } = await checkRows(client, catalogue, rest);
      refuseIfAny([...problems, ...sequenceProblems]);
      await holdSequences(client, catalogue.sequences);
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
  whileReplaced(successor: Successor): Promise<void> {
    return this.#database.whileReplaced(successor);
  }

  /** Whether the database answers, found out by asking it. */
  health(): Promise<TwinHealth> {
    return this.#database.health();
  }

  /** Resolves when what it is asked at the moment, and in the same turn, has its answer. */
  rest(): Promise<void> {
    return this.#database.rest();
  }

  /** @throws Error when a connection could not be closed in good order */
  close(): Promise<void> {
    return this.#database.close();
  }

  /** What the database defines otherwise than at its start. */
  async #definitionChanges(client: pg.ClientBase): Promise<DefinitionChange[]> {
    if (await this.#database.isUnchanged(client)) return [];
    return changesFrom(this.#start.definitions, await readDefinitions(client));
  }

  async #moveSequences(where: Row, changes: Row): Promise<number> {
    const moved = await this.#database.write(async ({ client, catalogue: { sequences } }) => {
      await holdSequences(client, sequences);
      const positions = await movedPositions(client, sequences, where, changes);
      await setPositions(client, positions);
      return positions.length;
    });
    if (moved > 0) this.#tell({ table: sequenceTableName, change: "update" });
    return moved;
  }

  #tell(change: Change): void {
    this.#stateVersion++;
    for (const listener of this.#listeners) listener({ stateVersion: this.#stateVersion, ...change });
  }
}

/** A page of rows that no table of the database holds. */
function pageOf(
  { name, columns }: TableDescription,
  all: readonly Row[],
  { where, offset, limit }: PageRequest,
): Page {
  const known = columns.map((column) => column.name);
  const problems = Object.keys(where)
    .filter((column) => !known.includes(column))
    .map((column) => ({
      table: name,
      column,
      rule: `there is no such column; the columns are ${known.join(", ")}`,
    }));
  refuseIfAny(problems);
  const rows = all.filter((row) =>
    Object.entries(where).every(([column, text]) => String(row[column]) === text),
  );
  return { rows: rows.slice(offset, offset + limit), total: rows.length };
}

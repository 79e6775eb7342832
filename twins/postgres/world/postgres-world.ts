/** A world over the tables of a real Postgres database, which the code under test may create and fill, too. */

import { Listeners } from "@offhook/platform/base/listeners";
import type { TwinHealth } from "@offhook/platform/twin/twin";
import { compareTables } from "@offhook/platform/world/difference";
import { boundWrite } from "@offhook/platform/world/traced-change";
import {
  DifferenceUnknown,
  missingRow,
  type Page,
  type PageRequest,
  type Problem,
  type Row,
  type RowChange,
  repeatedRow,
  type TableDescription,
  type Tables,
  type TracedChange,
  type TraceListener,
  unknownTable,
  type World,
  type WorldChange,
  type WorldDifference,
  WorldRefusal,
} from "@offhook/platform/world/world";
import type pg from "pg";
import type { Logger } from "pino";
import { predictProblems } from "./broken-rules.ts";
import { type Column, sequencesUsed, type Table } from "./catalogue.ts";
import { everyTable } from "./change-feed.ts";
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
import { findTable, fixedDefinitions, fixedTables, keyChanges, refuseIfAny } from "./refusals.ts";
import { removeRows } from "./remove-rows.ts";
import { replaceRows } from "./replace-rows.ts";
import { readRows, textConditions, textSelection } from "./select-rows.ts";
import {
  lockSequences,
  newPositions,
  positionsOf,
  readSequences,
  sequenceTable,
  sequenceTableName,
  setPositions,
} from "./sequences.ts";
import { type DatabaseServer, type Successor, WorldDatabase } from "./world-database.ts";

/** The start of the world, and how it is rebuilt. */
export interface Start {
  /** The definitions at the start. */
  definitions: readonly Definition[];
  /** Replaces the database by one with these changes of definition and these tables. @throws WorldRefusal, and then nothing changes */
  rebuild(changes: readonly DefinitionChange[], tables: Tables): Promise<void>;
  /** The state of the start, or of the profile that the last reset loaded. @throws DifferenceUnknown */
  readBaseline?(): Promise<{ tables: Tables; schema: TableDescription[] }>;
}

/** Limits of a state that is compared with its baseline. */
const MAX_COMPARED_ROWS = 20_000;
const MAX_COMPARED_BYTES = 64 * 1024 * 1024;

export class PostgresWorld implements World {
  #stateVersion = 1;
  readonly #listeners = new Listeners<WorldChange>();
  readonly #tracers = new Listeners<TracedChange>();
  /** Whether the state was loaded from given data, which is not kept. */
  #isGiven = false;
  readonly #database: WorldDatabase;
  readonly #start: Start;

  private constructor(url: string, server: DatabaseServer, start: Start, log: Logger) {
    this.#database = new WorldDatabase({ url, server, log, announce: (changes) => this.#announce(changes) });
    this.#start = start;
  }

  /**
   * Connects, and starts to watch for changes.
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
        return filterPage(sequenceTable, await readSequences(client, catalogue.sequences), page);
      }
      if (name === definitionTableName) {
        return filterPage(definitionTable, await this.#definitionChanges(client), page);
      }
      const table = findTable(catalogue, name);
      const selection = await textSelection(client, table, page.where);
      return readRows(client, table, selection, page);
    });
  }

  insert(data: Tables): Promise<Record<string, number>> {
    return this.#database.write(async ({ client, catalogue, lockSequencesOf }) => {
      const fixed = [...fixedTables].flatMap(([name, problem]) =>
        Object.hasOwn(data, name) ? [problem] : [],
      );
      const rest = Object.entries(data).filter(([name]) => !fixedTables.has(name));
      const { rows, problems } = await checkRows(client, catalogue, Object.fromEntries(rest));
      refuseIfAny([...problems, ...fixed]);
      const isLocked = await lockSequencesOf(
        sequencesUsed(catalogue, [...new Set(rows.map(({ table }) => table))]),
      );
      if (!isLocked) refuseIfAny(await predictProblems(client, rows));
      refuseIfAny(await insertRows(client, rows));
      return Object.fromEntries(Object.entries(data).map(([name, given]) => [name, given.length]));
    });
  }

  async update(name: string, where: Row, changes: Row): Promise<number> {
    if (name === sequenceTableName) return this.#moveSequences(where, changes);
    if (name === definitionTableName) throw new WorldRefusal([fixedDefinitions]);
    return this.#database.write(async ({ client, catalogue, lockSequencesOf }) => {
      const table = findTable(catalogue, name);
      const condition = await checkValues(client, table, where);
      const change = await checkValues(client, table, changes);
      refuseIfAny([...condition.problems, ...change.problems, ...keyChanges(table, changes)]);
      if (change.texts.size === 0) return 0;
      await lockSequencesOf(sequencesUsed(catalogue, []));
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
    return this.#database.write(async ({ client, catalogue, lockSequencesOf }) => {
      const fixed = fixedTables.get(name);
      if (fixed) throw new WorldRefusal([fixed]);
      const table = findTable(catalogue, name);
      const conditions = await conditionsOf(client, table);
      await lockSequencesOf(sequencesUsed(catalogue, []));
      const outcome = await removeRows(client, catalogue, table, conditions);
      refuseIfAny(outcome.problems);
      return outcome.removed;
    });
  }

  updateEach(changes: readonly RowChange[]): Promise<void> {
    return this.#database.write(async ({ client, catalogue, lockSequencesOf }) => {
      await lockSequencesOf(sequencesUsed(catalogue, []));
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
   * Sequences keep their positions, unless `data` has rows of `pg_sequences`, as every snapshot does. Definitions stay as they are,
   * unless `data` has `pg_definitions`: if these differ, the database is rebuilt.
   */
  async load(data: Tables): Promise<void> {
    const { [definitionTableName]: definitionRows, ...rest } = data;
    if (definitionRows === undefined) await this.#load(rest);
    else {
      const { changes, problems } = readChanges(definitionRows);
      refuseIfAny(problems);
      const now = await this.#database.read((client) => this.#definitionChanges(client));
      if (areSameChanges(now, changes)) await this.#load(rest);
      else await this.#start.rebuild(changes, rest);
    }
    this.#isGiven = true;
  }

  #load(data: Tables): Promise<void> {
    return this.#database.write(async ({ client, catalogue }) => {
      const { [sequenceTableName]: sequenceRows = [], ...rest } = data;
      const { positions, problems: sequenceProblems } = positionsOf(sequenceRows, catalogue.sequences);
      const { rows, problems } = await checkRows(client, catalogue, rest);
      refuseIfAny([...problems, ...sequenceProblems]);
      await lockSequences(client, catalogue.sequences);
      refuseIfAny(await replaceRows(client, catalogue, rows));
      await setPositions(client, positions);
    });
  }

  watch(listener: (change: WorldChange) => void): () => void {
    return this.#listeners.add(listener);
  }

  trace(listener: TraceListener): () => void {
    return this.#tracers.add(listener);
  }

  /**
   * Disconnects while the database is replaced; requests to the world wait meanwhile.
   * @throws what `putInPlace` throws; the world continues on the present database
   */
  async replaceDatabase(successor: Successor): Promise<void> {
    await this.#database.replaceDatabase(successor);
    this.#isGiven = false;
  }

  async difference(): Promise<WorldDifference> {
    if (this.#isGiven || !this.#start.readBaseline) {
      const what = "the database was reset to given data";
      throw new DifferenceUnknown(`${what}; a difference is known from the start or a profile`);
    }
    const after = await this.readWhole();
    const { tables, schema } = await this.#start.readBaseline();
    const known = [...(await this.schema()), ...schema];
    return { rows: compareTables(known, tables, after), uncompared: {} };
  }

  /** The whole state. @throws DifferenceUnknown when it is too large to be compared */
  async readWhole(): Promise<Tables> {
    const rows = Object.values(await this.counts()).reduce((sum, count) => sum + count, 0);
    const bytes = await this.#database.read(async (client) => {
      const { rows: found } = await client.query<{ bytes: string }>(tableBytes);
      return Number(found[0]?.bytes);
    });
    if (rows <= MAX_COMPARED_ROWS && bytes <= MAX_COMPARED_BYTES) return this.dump();
    const limits = `${MAX_COMPARED_ROWS} rows and ${MAX_COMPARED_BYTES} bytes`;
    throw new DifferenceUnknown(`a database is compared up to ${limits}; this has ${rows} and ${bytes}`);
  }

  /** Queries the database to find out whether it answers. */
  health(): Promise<TwinHealth> {
    return this.#database.health();
  }

  /** Resolves when the present requests, and those of the same turn of the event loop, are done. */
  settled(): Promise<void> {
    return this.#database.settled();
  }

  /** @throws Error when a connection could not be closed in good order */
  close(): Promise<void> {
    return this.#database.close();
  }

  /** The differences of definition from the start. */
  async #definitionChanges(client: pg.ClientBase): Promise<DefinitionChange[]> {
    if (await this.#database.isUnchanged(client)) return [];
    return changesFrom(this.#start.definitions, await readDefinitions(client));
  }

  async #moveSequences(where: Row, changes: Row): Promise<number> {
    const moved = await this.#database.write(async ({ client, catalogue: { sequences } }) => {
      await lockSequences(client, sequences);
      const positions = await newPositions(client, sequences, where, changes);
      await setPositions(client, positions);
      return positions.length;
    });
    if (moved > 0) this.#announce([{ table: sequenceTableName, change: "update" }]);
    return moved;
  }

  #announce(changes: readonly Change[]): void {
    for (const { table, change, row } of changes) {
      this.#stateVersion++;
      const told = { stateVersion: this.#stateVersion, table, change, ...(row === undefined ? {} : { row }) };
      this.#listeners.tell(told);
    }
    if (this.#tracers.size === 0) return;
    for (const change of tracedOf(changes)) {
      this.#tracers.tell({ stateVersion: this.#stateVersion, ...change });
    }
  }
}

const tableBytes = `SELECT coalesce(sum(pg_table_size(c.oid)), 0) AS bytes
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname NOT IN ('information_schema', 'offhook_watch')`;

/** The changes of one statement as a log of changes keeps them. */
function tracedOf(changes: readonly Change[]): Iterable<Omit<TracedChange, "stateVersion">> {
  const isLoad = changes.length > 1 && changes.every(({ change }) => change === "reset");
  if (isLoad) return [{ table: everyTable, change: "reset" }];
  return boundWrite(
    changes,
    (change) => change,
    ({ table, change, rows }) => ({ table, change, rows }),
  );
}

/** A page of a table that the database itself does not have. */
function filterPage(
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

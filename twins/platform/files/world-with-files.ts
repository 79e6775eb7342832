/**
 * A twin's world as the control plane sees it: the twin's own tables, and its files as an additional table. Reset, snapshot
 * and reads treat both alike, so that loading a snapshot also restores the files.
 */
import { isDeepStrictEqual } from "node:util";
import { Listeners } from "../base/listeners.ts";
import { compareTables } from "../world/difference.ts";
import {
  collectTables,
  dumpState,
  holdState,
  loadState,
  sourceOf,
  withoutTables,
} from "../world/state-source.ts";
import {
  DifferenceUnknown,
  type HeldState,
  type Page,
  type PageRequest,
  type Problem,
  type Row,
  type RowChange,
  type StateSource,
  type TableDescription,
  type Tables,
  type TakeRows,
  type TracedChange,
  type TraceListener,
  unknownTable,
  type World,
  type WorldChange,
  type WorldDifference,
  WorldRefusal,
} from "../world/world.ts";
import { filesTable, listedRow, readFileRows, wholeRow } from "./file-rows.ts";
import type { FileStore, StoredFile } from "./file-store.ts";

const USUAL_NAME = "files";
/** The table's name in a world that has a table `files` of its own. */
const OTHER_NAME = "sim_files";
const FIXED_FILE = "a file cannot be changed; remove it and upload it again";

export class WorldWithFiles implements World {
  readonly #world: World;
  readonly #files: FileStore;
  readonly #listeners = new Listeners<WorldChange>();
  /** The files at the start, or after the last reset. */
  #baseline: readonly StoredFile[] = [];

  constructor(world: World, files: FileStore) {
    this.#world = world;
    this.#files = files;
  }

  get stateVersion(): number {
    return this.#world.stateVersion + this.#files.version;
  }

  async schema(): Promise<TableDescription[]> {
    const tables = await this.#world.schema();
    return [...tables, filesTable(nameBeside(tables.map(({ name }) => name)))];
  }

  async counts(): Promise<Record<string, number>> {
    const counts = await this.#world.counts();
    return { ...counts, [nameBeside(Object.keys(counts))]: this.#files.size };
  }

  async rows(table: string, page: PageRequest): Promise<Page> {
    if (!(await this.#isFiles(table))) return this.#naming(this.#world.rows(table, page));
    const found = this.#find(table, page.where, (value) => String(value));
    const rows = found.slice(page.offset, page.offset + page.limit).map(listedRow);
    return { rows, total: found.length };
  }

  async insert(data: Tables): Promise<Record<string, number>> {
    const refused = await this.#filesTablesOf(data);
    if (refused.length === 0) return this.#naming(this.#world.insert(data));
    throw new WorldRefusal(
      refused.map((table) => ({ table, rule: "files are uploaded by POST /sim/files?name=" })),
    );
  }

  async update(table: string, where: Row, changes: Row): Promise<number> {
    if (!(await this.#isFiles(table))) return this.#naming(this.#world.update(table, where, changes));
    throw new WorldRefusal([{ table, rule: FIXED_FILE }]);
  }

  async remove(table: string, where: Row): Promise<number> {
    if (!(await this.#isFiles(table))) return this.#naming(this.#world.remove(table, where));
    const found = this.#find(table, where, (value) => value);
    for (const { name } of found) this.removeFile(name);
    return found.length;
  }

  async updateEach(changes: readonly RowChange[]): Promise<void> {
    const refused = await this.#filesTablesOf(Object.fromEntries(changes.map(({ table }) => [table, []])));
    if (refused.length === 0) return this.#naming(this.#world.updateEach(changes));
    throw new WorldRefusal(refused.map((table) => ({ table, rule: FIXED_FILE })));
  }

  async removeFound(table: string, filter: PageRequest["where"]): Promise<number> {
    if (!(await this.#isFiles(table))) return this.#naming(this.#world.removeFound(table, filter));
    const found = this.#find(table, filter, (value) => String(value));
    for (const { name } of found) this.removeFile(name);
    return found.length;
  }

  removeFile(name: string): void {
    const file = this.#files.remove(name);
    if (file) this.#tell([{ table: USUAL_NAME, change: "remove", row: listedRow(file) }]);
  }

  async dump(): Promise<Tables> {
    const files = this.#files.all().map(wholeRow);
    const tables = await this.#world.dump();
    return { ...tables, [nameBeside(Object.keys(tables))]: files };
  }

  async dumpTo(take: TakeRows): Promise<void> {
    const tables: string[] = [];
    await dumpState(this.#world, async (table, rows) => {
      if (tables.at(-1) !== table) tables.push(table);
      await take(table, rows);
    });
    await take(nameBeside(tables), this.#files.all().map(wholeRow));
  }

  load(data: Tables): Promise<void> {
    return this.loadFrom(sourceOf(data));
  }

  /** Tables that the source lacks are empty afterwards, and so are the files. */
  async loadFrom(source: StateSource): Promise<void> {
    const problems: Problem[] = [];
    const names = await this.#filesTablesOf(Object.fromEntries(source.tables.map((name) => [name, []])));
    const [table = USUAL_NAME] = names;
    const rows = (await collectTables(source, names))[table] ?? [];
    const files = readFileRows(table, rows, problems);
    if (problems.length > 0) throw new WorldRefusal(problems);
    await this.#naming(loadState(this.#world, withoutTables(source, new Set(names))));
    this.replaceFiles(files);
  }

  async hold(limitBytes: number): Promise<HeldState> {
    const files = this.#files.all();
    const held = await holdState(this.#world, limitBytes);
    return {
      restore: async () => {
        await held.restore();
        this.replaceFiles(files);
      },
      release: () => held.release(),
    };
  }

  /** Replaces all files. */
  replaceFiles(files: readonly StoredFile[]): void {
    const { version } = this.#files;
    this.#files.replaceAll(files);
    this.#baseline = files;
    if (this.#files.version !== version) this.#tell([{ table: USUAL_NAME, change: "reset" }]);
  }

  /** Tells watchers about an added file. */
  added(file: StoredFile): void {
    this.#tell([{ table: USUAL_NAME, change: "insert", row: listedRow(file) }]);
  }

  watch(listener: (change: WorldChange) => void): () => void {
    const listenToBoth = (change: WorldChange) =>
      listener({ ...change, stateVersion: change.stateVersion + this.#files.version });
    const unwatch = [this.#world.watch(listenToBoth), this.#listeners.add(listener)];
    return () => {
      for (const end of unwatch) end();
    };
  }

  trace(listener: TraceListener): () => void {
    const listenToBoth = (change: TracedChange) =>
      listener({ ...change, stateVersion: change.stateVersion + this.#files.version });
    const traceFile = (change: WorldChange) =>
      listener({ ...change, ...(change.row ? { key: { name: change.row.name } } : {}) });
    const untrace = [
      this.#world.trace?.(listenToBoth) ?? this.#world.watch(listenToBoth),
      this.#listeners.add(traceFile),
    ];
    return () => {
      for (const end of untrace) end();
    };
  }

  setBaseline(): void {
    this.#world.setBaseline?.();
    this.#baseline = this.#files.all();
  }

  /** @throws DifferenceUnknown */
  async difference(): Promise<WorldDifference> {
    if (!this.#world.difference)
      throw new DifferenceUnknown("this twin does not keep its state of the start");
    const { rows, uncompared } = await this.#world.difference();
    const [now, then] = [this.#files.all(), this.#baseline].map((files) => files.map(listedRow));
    const name = nameBeside((await this.#world.schema()).map((table) => table.name));
    const files = compareTables([filesTable(name)], { [name]: then ?? [] }, { [name]: now ?? [] });
    return { rows: [...rows, ...files], uncompared };
  }

  /** Makes a refusal of an unknown table list the files' table too, besides the twin's own. */
  async #naming<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof WorldRefusal)) throw error;
      const known = (await this.schema()).map(({ name }) => name);
      const isThere = ({ table }: Problem) => known.includes(table);
      throw new WorldRefusal(
        error.problems.map((one) => (isThere(one) ? one : unknownTable(one.table, known))),
      );
    }
  }

  #find(table: string, where: Row, compared: (value: unknown) => unknown): StoredFile[] {
    const columns = filesTable(table).columns.map(({ name }) => name);
    const unknown = Object.keys(where).filter((name) => !columns.includes(name));
    if (unknown.length > 0) {
      const rule = `no such column; ${table} has ${columns.join(", ")}`;
      throw new WorldRefusal(unknown.map((column) => ({ table, column, rule })));
    }
    return this.#files.all().filter((file) => {
      const row = listedRow(file);
      return Object.entries(where).every(([column, value]) =>
        isDeepStrictEqual(compared(row[column]), value),
      );
    });
  }

  async #isFiles(table: string): Promise<boolean> {
    return (await this.#filesTablesOf({ [table]: [] })).length > 0;
  }

  /** The names in `data` that mean the files' table. Reads the world's schema only when one could. */
  async #filesTablesOf(data: Tables): Promise<string[]> {
    const candidates = [USUAL_NAME, OTHER_NAME].filter((name) => Object.hasOwn(data, name));
    if (candidates.length === 0) return [];
    const name = nameBeside((await this.#world.schema()).map((table) => table.name));
    return candidates.filter((candidate) => candidate === name);
  }

  #tell(changes: Omit<WorldChange, "stateVersion">[]): void {
    for (const change of changes) this.#listeners.tell({ stateVersion: this.stateVersion, ...change });
  }
}

function nameBeside(tables: readonly string[]): string {
  return tables.includes(USUAL_NAME) ? OTHER_NAME : USUAL_NAME;
}

/** A store's database file while it is open: its fields, its next numbers, and what is written to it. */
import type { Logger } from "pino";
import type { TextIndex } from "../fields.ts";
import type { Sql } from "../sql.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { createTables, isNamed, nameIndex, readCatalog, type StoreCatalog } from "./layout.ts";
import type { HeldRows, QueryOptions, QueryResult } from "./log-store.ts";
import type { PlannedDocument, WritePlan } from "./plan-write.ts";
import { type FieldChanges, RowWriter } from "./row-writer.ts";
import { Turns } from "./turns.ts";
import { Upkeep } from "./upkeep.ts";
import { WriteBuffer } from "./write-buffer.ts";

/** How a file is opened, whoever it belongs to. */
export interface FileOptions extends Omit<DatabaseOptions, "holder"> {
  log: Logger | undefined;
}

export class StoreFile {
  readonly database: Database;
  /** Whether it is a baseline where it lies, which cannot be written to. */
  readonly isShared: boolean;
  readonly #writer: RowWriter;
  /** Of the writer: one thing after the other. */
  readonly #turns = new Turns();
  readonly #buffer: WriteBuffer<PlannedDocument>;
  readonly #upkeep: Upkeep;
  /** With what is in the buffer. */
  #catalog: StoreCatalog;

  constructor(
    database: Database,
    writer: RowWriter,
    catalog: StoreCatalog,
    { isShared, log }: { isShared: boolean; log: Logger | undefined },
  ) {
    this.database = database;
    this.isShared = isShared;
    this.#writer = writer;
    this.#catalog = catalog;
    this.#buffer = new WriteBuffer(
      (documents) => this.#store(documents, []),
      ({ document }) => document.source.length,
    );
    this.#upkeep = new Upkeep(writer, (step) => this.#turns.takeSpare(() => this.database.change(step)), log);
  }

  /**
   * Opens a baseline where it lies, to read it.
   * @returns `undefined` when its rows have to be put under the index first: it takes a copy. @throws UnreadableStore
   */
  static async share(owner: object, options: FileOptions, index: string): Promise<StoreFile | undefined> {
    const database = await Database.open(owner, { ...options, holder: "others" });
    try {
      const file = await database.turn(async () => {
        const connection = await database.connect();
        const catalog = await readCatalog(connection);
        const writer = new RowWriter(connection, catalog);
        return new StoreFile(database, writer, catalog, { isShared: true, log: options.log });
      });
      if (isNamed(file.catalog, index)) return file;
      await file.close();
      return undefined;
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** @param origin what the file is a copy of; or, for one that is made, what words are found by. @throws UnreadableStore */
  static async open(
    owner: object,
    options: FileOptions,
    origin: { index: string } | { textIndex: TextIndex },
  ): Promise<StoreFile> {
    const database = await Database.open(owner, { ...options, holder: "itself" });
    try {
      return await database.turn(async () => {
        const connection = await database.connect();
        if ("textIndex" in origin) await createTables(connection, origin.textIndex);
        const catalog = await readCatalog(connection);
        if ("index" in origin) await nameIndex(connection, catalog, origin.index);
        const writer = new RowWriter(connection, catalog);
        await writer.open();
        if ("index" in origin) await writer.showBuilt();
        return new StoreFile(database, writer, catalog, { isShared: false, log: options.log });
      });
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** As it is for whoever reads from now on. */
  get catalog(): StoreCatalog {
    return this.#catalog;
  }

  /** Every event with a smaller row has its segments, where the text index is of raw text. */
  get segmentedRows(): number {
    return this.#writer.segmentedRows;
  }

  /** Runs one statement that reads, and sees all that was written before. @throws QueryInterrupted, QueueFull */
  query(statement: Sql, options?: QueryOptions): Promise<QueryResult> {
    if (this.#buffer.isEmpty) return this.database.query(statement, options);
    return this.database.query(statement, options, () => this.#buffer.flush());
  }

  /** Keeps the rows of one statement that reads, and sees all that was written before. @throws QueryInterrupted, QueueFull */
  hold(statement: Sql, options?: QueryOptions): Promise<HeldRows> {
    if (this.#buffer.isEmpty) return this.database.hold(statement, options);
    return this.database.hold(statement, options, () => this.#buffer.flush());
  }

  /** Waits until all that was written is in the database. */
  flush(): Promise<void> {
    return this.#buffer.flush();
  }

  /** Adds fields, and changes some. What is in the buffer fits them as well. */
  async extend(changes: FieldChanges): Promise<void> {
    const fields = await this.#inTurn(() => this.#writer.extend(changes));
    this.#catalog = { ...this.#catalog, fields };
  }

  /** Takes documents, and removes those they replace: whoever reads from then on sees it. Nobody else writes meanwhile. */
  async write({ documents, batch, nextSeqNo }: WritePlan): Promise<void> {
    const last = documents.at(-1);
    if (!last) return;
    if (batch.added.length > 0 || batch.widened.size > 0) await this.extend(batch);
    const replaced = documents.flatMap((planned) => planned.replaced ?? []).map(({ row }) => row);
    if (replaced.length === 0) {
      await this.#buffer.room();
      this.#buffer.add(documents);
    } else {
      await this.#buffer.flush();
      await this.#store(documents, replaced);
    }
    this.#catalog = { ...this.#catalog, nextRow: last.document.row + 1, nextSeqNo };
  }

  async remove(rows: readonly number[], nextSeqNo: number): Promise<void> {
    await this.#buffer.flush();
    await this.#store([], rows);
    this.#catalog = { ...this.#catalog, nextSeqNo };
  }

  /** Waits for what runs; what is in the buffer alone is gone. */
  async close(): Promise<void> {
    this.#upkeep.stop();
    await this.#buffer.close();
    await this.#inTurn(async () => this.#writer.close());
    await this.database.close();
  }

  async #store(documents: readonly PlannedDocument[], removed: readonly number[]): Promise<void> {
    await this.#inTurn(() => this.#writer.store(documents, removed));
    void this.#upkeep.begin();
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.take(() => this.database.change(work));
  }
}

/**
 * The events of one log twin, in a DuckDB database of their own. A read sees every write that ended before it; `write-buffer.ts` says
 * how writes reach the database.
 *
 * Table `documents`: one row an event.
 * | column | type | |
 * |---|---|---|
 * | `_row` | BIGINT | its number, in the order of writing; never reused |
 * | `_id`, `_index` | VARCHAR | together they name a document |
 * | `_version`, `_seq_no` | BIGINT | |
 * | `_source` | VARCHAR | the event as it was written, as JSON text |
 * | one a field | see `FieldType` | the value; NULL when it has none; a LIST if the field is `multi` |
 *
 * One relation of postings for each text field (`Field.postings`). Every row belongs to a document that exists:
 * | column | type | |
 * |---|---|---|
 * | `term` | VARCHAR | |
 * | `_row` | BIGINT | the document |
 * | `position` | INTEGER | from 1; values of a list are 100 apart |
 * | `frequency` | INTEGER | occurrences of the term in the field of this document, at the first of them; 0 at the others |
 * | `length` | INTEGER | tokens in the field of this document |
 *
 * A lookup by `term` is fast: all postings but the latest are sorted by term.
 *
 * A relation of the terms alone, `term VARCHAR`, is named as the postings with `_words` after it. It has every term, some more than
 * once, and some that only removed documents had.
 *
 * Relation `field_statistics (field VARCHAR, documents BIGINT, tokens BIGINT)` has what BM25 needs: for each text field, by its name,
 * the number of documents with a token in it, and the number of its tokens.
 */
import { type HeldState, WorldUnavailable } from "@offhook/platform/world/world";
import type { FieldCatalog, IndexMapping, NewField } from "../fields.ts";
import type { Sql } from "../sql.ts";
import type { MisfitKind } from "./column-value.ts";
import type { FittedDocument } from "./fitted-document.ts";

export interface QueryOptions {
  /** Aborting ends the query, and takes it out of the queue if it has not begun. */
  signal?: AbortSignal;
  /** Longest time, queueing included; the store's own limit when absent. */
  deadlineMs?: number;
  /** Called from time to time while the query runs, with the share that is done: 0 to 1. */
  progress?(share: number): void;
}

/**
 * A value of a result: BIGINT and wider as `number`, or `bigint` beyond 2^53; DOUBLE and DECIMAL as `number`; TIMESTAMP as
 * milliseconds since the Unix epoch; LIST as an array; NULL as `null`.
 */
export type ResultValue = string | number | bigint | boolean | null | ResultValue[];

export interface QueryResult {
  columns: string[];
  rows: ResultValue[][];
}

/** The materialized rows of a statement, in their order, until they are dropped; see `result-cursor.ts`. */
export interface ResultCursor {
  readonly count: number;
  /** Their table, for `query`: it has the columns of the statement, and `rowid` is a row's number from 0. */
  readonly from: Sql;
  /**
   * Runs one statement that reads the rows. It may read events as well: those of the content from which the rows came.
   * @throws QueryInterrupted, also when the store has other content by now; QueueFull, or DuckDB's error
   */
  query(statement: Sql, options?: QueryOptions): Promise<QueryResult>;
  drop(): Promise<void>;
}

/** The query was interrupted before it had a result. */
export class QueryInterrupted extends WorldUnavailable {
  readonly reason: "deadline" | "cancelled";
  constructor(reason: "deadline" | "cancelled", afterMs: number) {
    super(
      `the query was ${reason === "deadline" ? "ended by its deadline" : "cancelled"} after ${Math.round(afterMs)} ms`,
    );
    this.name = "QueryInterrupted";
    this.reason = reason;
  }
}

/** The queue is full: try again later (429). */
export class QueueFull extends WorldUnavailable {
  constructor(waiting: number) {
    super(`${waiting} queries are waiting already; try again when some of them are done`);
    this.name = "QueueFull";
  }
}

/** A statement needs more memory than the store has, even when it runs alone. */
export class OutOfMemory extends WorldUnavailable {
  readonly limitBytes: number;
  constructor(limitBytes: number) {
    super(`the query needs more than the ${limitBytes} bytes of memory that there are; ask for less at once`);
    this.name = "OutOfMemory";
    this.limitBytes = limitBytes;
  }
}

/** There is no room for a write: it stores nothing, and reads still work. */
export class StoreFull extends WorldUnavailable {
  /** @param why the reason, then what to do about it */
  constructor(why: string, options?: ErrorOptions) {
    super(why, options);
    this.name = "StoreFull";
  }
}

/** Where a document is. */
export interface DocumentPlace {
  index: string;
  id: string;
}

export interface DocumentWrite {
  /** Generated when absent: 20 URL-safe characters, the same for the same history of writes. */
  id?: string;
  index: string;
  /** The event as JSON text, kept as it is; an object. */
  source: string;
  /** The values of `source`, fitted to the current fields; present when the writer has parsed it already. */
  fitted?: FittedDocument;
  /** When absent: one more than the version of the document it replaces, or 1. */
  version?: number;
}

/**
 * How written documents make fields.
 * - `mapped`, as a search engine does: text that looks like a date makes a date field, and a name holds values or objects, not both.
 * - `free`: only the time field is inferred as a date (the first field with a usual name whose value looks like one); any other text
 *   makes a text field, and a name may hold both values and objects.
 */
export type Fitting = "mapped" | "free";

/** A write that depends on the document in its place. */
export interface ConditionalWrite extends DocumentWrite {
  /** `create` conflicts with a document in its place; `index`, the default, replaces it. */
  op?: "index" | "create";
  /** Written only if the document exists and this was its last change; else a conflict. */
  condition?: WriteCondition;
}

/** Optimistic concurrency: `if_seq_no` and `if_primary_term`. */
export interface WriteCondition {
  seqNo: number;
  /** The store's is always 1. */
  primaryTerm: number;
}

export interface WrittenDocument extends DocumentPlace {
  version: number;
  seqNo: number;
  /** `updated`: it replaced a document in its place. */
  result: "created" | "updated";
}

export interface RemovedDocument {
  /** One more than the version that was removed. */
  version: number;
  seqNo: number;
}

/** The value or name of a document that does not fit. */
export interface Misfit {
  kind: MisfitKind;
  /** Dotted name; empty for `malformed_json`. */
  field: string;
  /** Type of the field as it is, or as this document would have made it; `object` where it has members; empty when neither applies. */
  type: string;
  /** As JSON text; empty when no value is at fault. */
  value: string;
  /** `For input string: "cheap"`. */
  reason: string;
  /** Where in the source, from 1. */
  line: number;
  column: number;
}

/** A value that its field cannot hold. */
export interface UnfitValue extends Misfit {
  /** Position of the document among those to be written. */
  document: number;
}

/** Some documents of a write do not fit, so it stores nothing. */
export class UnfitDocuments extends Error {
  readonly values: readonly UnfitValue[];
  constructor(values: readonly UnfitValue[]) {
    super(values.map(({ field, type, reason }) => `${field} (${type}): ${reason}`).join("; "));
    this.name = "UnfitDocuments";
    this.values = values;
  }
}

/** The outcome of a conditional write. */
export type DocumentOutcome =
  | ({ outcome: "written" } & WrittenDocument)
  | WriteConflict
  | { outcome: "unfit"; id: string | undefined; index: string; misfit: Misfit };

/** A write that stored nothing because of the document in its place. */
interface WriteConflict extends DocumentPlace {
  outcome: "conflict";
  /** `exists`: a create found a document. `changed`: the condition does not hold; `current` is absent when there is no document. */
  reason: "exists" | "changed";
  current: { version: number; seqNo: number } | undefined;
}

export interface StoredDocument extends DocumentPlace {
  row: number;
  version: number;
  seqNo: number;
  source: string;
}

/** A committed change. */
export type StoreChange =
  | {
      stateVersion: number;
      change: "write";
      documents: { document: StoredDocument; replaced: StoredDocument | undefined }[];
    }
  | { stateVersion: number; change: "remove"; documents: StoredDocument[] }
  | { stateVersion: number; change: "index"; index: string }
  | { stateVersion: number; change: "reset" };

/** Several documents have the same place, so the load stores nothing. */
export class RepeatedDocuments extends Error {
  /** The first hundred, by position among the documents to load. */
  readonly documents: readonly { document: number; id: string }[];
  constructor(documents: readonly { document: number; id: string }[]) {
    super(`${documents.map(({ id }) => id).join(", ")}: another document is in this place`);
    this.name = "RepeatedDocuments";
    this.documents = documents;
  }
}

/** The whole content of a store. */
export interface StoreContent {
  /** Declared fields, whether or not a document has them. */
  fields: readonly NewField[];
  timeField: string | undefined;
  /** The indices with a mapping of their own. */
  indices?: ReadonlyMap<string, IndexMapping>;
  /** In batches. */
  documents: AsyncIterable<readonly LoadedDocument[]>;
}

export interface LoadedDocument extends DocumentWrite {
  /** When absent: the next number. */
  seqNo?: number;
}

/** Reads: the store itself, or a section of it in which nobody else writes. */
export interface LogReader {
  /** The fields as they are now. */
  readonly fields: FieldCatalog;
  /** Resolves when no change of the fields is under way. The database has such a change a moment before `fields`. */
  fieldsSettled(): Promise<void>;
  /** Grows with every change. */
  readonly stateVersion: number;
  /** Every event has a smaller `_row`. */
  readonly nextRow: number;
  /** With the text index `raw`: the segments of every event with a smaller `_row` are indexed. */
  readonly segmentedRows: number;
  /** The names of the indices that events were written to; some may be empty by now. */
  indexes(): Promise<ReadonlySet<string>>;
  /** Runs one statement that reads. @throws QueryInterrupted, QueueFull, OutOfMemory, or DuckDB's error */
  query(statement: Sql, options?: QueryOptions): Promise<QueryResult>;
  /** Materializes the rows of one statement that reads, however many. The caller drops them. @throws as `query` */
  openCursor(statement: Sql, options?: QueryOptions): Promise<ResultCursor>;
  /** The documents with these ids, in the order of writing. @param index `undefined`: of any index */
  byId(index: string | undefined, ids: readonly string[], options?: QueryOptions): Promise<StoredDocument[]>;
}

export interface LogWriter extends LogReader {
  /** Stores documents, all of them or none; new fields extend the catalog. @throws UnfitDocuments, QueueFull */
  write(documents: readonly DocumentWrite[]): Promise<WrittenDocument[]>;
  /** The misfits that `write` would throw; stores nothing. */
  misfits(documents: readonly DocumentWrite[]): Promise<UnfitValue[]>;
  /** Stores each document, or returns why not, in their order; new fields extend the catalog. @throws QueueFull */
  writeEach(documents: readonly ConditionalWrite[]): Promise<DocumentOutcome[]>;
  /** Removes documents; the result is `undefined` for one that did not exist. @throws QueueFull */
  remove(places: readonly DocumentPlace[]): Promise<(RemovedDocument | undefined)[]>;
  /**
   * Gives an index a mapping of its own, or another one. Fields that it has stay as they are; documents that it has must have been
   * written by its mapping.
   * @throws StoreFull
   */
  defineIndex(index: string, mapping: IndexMapping): Promise<void>;
  /** Removes the documents of an index, and its own fields. @throws QueueFull, StoreFull */
  removeIndex(index: string): Promise<void>;
}

export interface LogStore extends LogWriter {
  /** The number of documents of every index that has any. */
  counts(): Promise<ReadonlyMap<string, number>>;
  /** Runs work while nobody else writes. It is no transaction: when the work throws, its earlier writes stay. */
  exclusively<Result>(work: (writer: LogWriter) => Promise<Result>): Promise<Result>;
  /**
   * Restores the baseline, or begins with another. Running queries end on the content that they began with; cursors can no longer be
   * read.
   * @param baseline `file` as `openLogStore` takes it
   */
  reset(baseline?: { file: string | undefined }): Promise<void>;
  /** Keeps the present content, or a later one, at no cost: it can come back after a reset or a load. */
  hold(): Promise<HeldState>;
  /** Replaces the whole content, all or nothing. @throws UnfitDocuments, RepeatedDocuments, what the documents throw */
  load(content: StoreContent): Promise<void>;
  /** Why there is no room for writes at this moment; `undefined`: there is. */
  refusal(): Promise<StoreFull | undefined>;
  /** Calls `listener` after each change until the returned function is called. */
  watch(listener: (change: StoreChange) => void): () => void;
  /** Waits for running work, then closes; no file of the store is left. */
  close(): Promise<void>;
}

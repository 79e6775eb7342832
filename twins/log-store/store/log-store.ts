/**
 * The events of one log twin, in a DuckDB database of their own. Whoever reads sees every write that has ended; how these get into the
 * database is in `write-buffer.ts`.
 *
 * Table `documents`: one row an event.
 * | column | type | |
 * |---|---|---|
 * | `_row` | BIGINT | its number, in the order of writing; never used again |
 * | `_id`, `_index` | VARCHAR | together they name a document |
 * | `_version`, `_seq_no` | BIGINT | |
 * | `_source` | VARCHAR | the event as it was written, as JSON text |
 * | one a field | see `FieldType` | the value; NULL when it has none; a LIST if the field is `multi` |
 *
 * One relation of postings a text field (`Field.postings`); every row of it belongs to a document that is there:
 * | column | type | |
 * |---|---|---|
 * | `term` | VARCHAR | |
 * | `_row` | BIGINT | the document |
 * | `position` | INTEGER | from 1; values of a list are 100 apart |
 * | `frequency` | INTEGER | how often the term is in the field of this document, at its first occurrence; else 0 |
 * | `length` | INTEGER | tokens in the field of this document |
 *
 * Looking for `term = …` in postings is fast, as they lie in the order of their terms but for the latest.
 *
 * Beside them is a relation of the words alone, `term VARCHAR`, named as the postings with `_words` after it: all that there are, some
 * more than once, and some that no document has any more.
 *
 * Relation `field_statistics (field VARCHAR, documents BIGINT, tokens BIGINT)`: for each text field, by its name, in how many documents
 * it has a token and how many tokens it has in all: what BM25 needs.
 */
import { WorldUnavailable } from "@offhook/platform/world/world";
import type { FieldCatalog, IndexMapping, NewField } from "../fields.ts";
import type { Sql } from "../sql.ts";
import type { MisfitKind } from "./column-value.ts";
import type { FittedDocument } from "./fitted-document.ts";

export interface QueryOptions {
  /** Aborting ends the query, and takes it out of the queue if it has not begun. */
  signal?: AbortSignal;
  /** How long it may take, waiting for its turn included; the store's own limit when absent. */
  deadlineMs?: number;
  /** Called from time to time while it is at work, with the share that is done: from 0 to 1. */
  progress?(share: number): void;
}

/**
 * Values as they come out: BIGINT and wider as `number`, or `bigint` beyond 2^53; DOUBLE and DECIMAL as `number`; TIMESTAMP as
 * milliseconds since the Unix epoch; LIST as an array; NULL as `null`.
 */
export type ResultValue = string | number | bigint | boolean | null | ResultValue[];

export interface QueryResult {
  columns: string[];
  rows: ResultValue[][];
}

/** Rows that a statement has found, and that are kept in their order until they are dropped; see `held-rows.ts`. */
export interface ResultCursor {
  readonly count: number;
  /** Their table, for `query`: its columns are those of the statement, and `rowid` is a row's number from 0. */
  readonly from: Sql;
  /**
   * Runs one statement that reads them, and events beside them: of the content that the store had when the rows were found.
   * @throws QueryInterrupted, also when that content is no more; QueueFull, or DuckDB's error
   */
  query(statement: Sql, options?: QueryOptions): Promise<QueryResult>;
  drop(): Promise<void>;
}

/** The query was ended before it had an answer. */
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

/** Too many queries wait for their turn: try again later (429). */
export class QueueFull extends WorldUnavailable {
  constructor(waiting: number) {
    super(`${waiting} queries are waiting already; try again when some of them are done`);
    this.name = "QueueFull";
  }
}

/** A statement needs more memory than the store has, whatever runs beside it. */
export class OutOfMemory extends WorldUnavailable {
  /** What there is. */
  readonly limitBytes: number;
  constructor(limitBytes: number) {
    super(`the query needs more than the ${limitBytes} bytes of memory that there are; ask for less at once`);
    this.name = "OutOfMemory";
    this.limitBytes = limitBytes;
  }
}

/** There is no room for what is to be written: nothing of it is kept, and what was written before is still read. */
export class StoreFull extends WorldUnavailable {
  /** @param why ends with what to do */
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
  /** The store makes one when absent: 20 characters safe in an address, the same for the same history of writes. */
  id?: string;
  index: string;
  /** The event as JSON text, kept as it is; an object. */
  source: string;
  /** What is in `source`, where the writer knows, fitted to the fields that there are when it writes: it is not read again. */
  fitted?: FittedDocument;
  /** The version it gets; when absent, one more than that of the document it replaces, or 1. */
  version?: number;
}

/**
 * How written documents come by their fields.
 * - `mapped`, as a search engine does: text that looks like a time makes a field of times, and a name holds values or objects, not both.
 * - `free`: the first field of a usual name that looks like a time says when; any other text makes a field of texts, and a name may
 *   hold both.
 */
export type Fitting = "mapped" | "free";

/** A write that depends on what is there. */
export interface ConditionalWrite extends DocumentWrite {
  /** `create` conflicts with a document in its place; `index` (when absent) replaces it. */
  op?: "index" | "create";
  /** Written only if the document is there and was last changed by this; else a conflict. */
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
  /** `updated`: there was a document in this place, and it is replaced. */
  result: "created" | "updated";
}

export interface RemovedDocument {
  /** One more than the version that was removed. */
  version: number;
  seqNo: number;
}

/** What of a document does not fit. */
export interface Misfit {
  kind: MisfitKind;
  /** Dotted name; empty for `malformed_json`. */
  field: string;
  /** Type of the field as it is, or as this document would have made it; `object` where it has members; empty when there is none. */
  type: string;
  /** As JSON text; empty when it is no value that is wrong. */
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

/** Documents that do not fit; none of those to be written is stored. */
export class UnfitDocuments extends Error {
  readonly values: readonly UnfitValue[];
  constructor(values: readonly UnfitValue[]) {
    super(values.map(({ field, type, reason }) => `${field} (${type}): ${reason}`).join("; "));
    this.name = "UnfitDocuments";
    this.values = values;
  }
}

/** What became of a conditional write. */
export type DocumentOutcome =
  | ({ outcome: "written" } & WrittenDocument)
  | WriteConflict
  | { outcome: "unfit"; id: string | undefined; index: string; misfit: Misfit };

/** A document that stays as it is, because of what is there. */
export interface WriteConflict extends DocumentPlace {
  outcome: "conflict";
  /** `exists`: a create of what is there. `changed`: the condition does not hold; `current` is absent when there is no document. */
  reason: "exists" | "changed";
  current: { version: number; seqNo: number } | undefined;
}

/** A document that is there. */
export interface StoredDocument extends DocumentPlace {
  row: number;
  version: number;
  seqNo: number;
  source: string;
}

/** A change that has been stored. */
export type StoreChange =
  | {
      stateVersion: number;
      change: "write";
      documents: { document: StoredDocument; replaced: StoredDocument | undefined }[];
    }
  | { stateVersion: number; change: "remove"; documents: StoredDocument[] }
  | { stateVersion: number; change: "index"; index: string }
  | { stateVersion: number; change: "reset" };

/** Documents that are in the place of one before; none of those to be loaded is stored. */
export class RepeatedDocuments extends Error {
  /** Positions among those to be loaded: the first hundred. */
  readonly documents: readonly { document: number; id: string }[];
  constructor(documents: readonly { document: number; id: string }[]) {
    super(`${documents.map(({ id }) => id).join(", ")}: another document is in this place`);
    this.name = "RepeatedDocuments";
    this.documents = documents;
  }
}

/** All that a store holds. */
export interface StoreContent {
  /** Fields that there are whether or not a document has them. */
  fields: readonly NewField[];
  timeField: string | undefined;
  /** The indices that have fields of their own. */
  indices?: ReadonlyMap<string, IndexMapping>;
  /** Some at a time. */
  documents: AsyncIterable<readonly LoadedDocument[]>;
}

export interface LoadedDocument extends DocumentWrite {
  /** The next number when absent. */
  seqNo?: number;
}

/** What reads: the store itself, or a turn of it in which nobody else writes. */
export interface LogReader {
  /** The fields as they are now. */
  readonly fields: FieldCatalog;
  /** Resolves when no change of the fields is under way: the database has it a moment before `fields`. */
  fieldsSettled(): Promise<void>;
  /** Grows with every change. */
  readonly stateVersion: number;
  /** Every event has a smaller `_row`. */
  readonly nextRow: number;
  /** Where the text index is `raw`: every event with a smaller `_row` has its segments. */
  readonly segmentedRows: number;
  /** The indexes that events are in; some may have none any more. */
  indexes(): Promise<ReadonlySet<string>>;
  /** Runs one statement that reads. @throws QueryInterrupted, QueueFull, or DuckDB's error. */
  query(statement: Sql, options?: QueryOptions): Promise<QueryResult>;
  /** Keeps the rows of one statement that reads, which may be very many. Whoever asked drops them. @throws as `query` */
  openCursor(statement: Sql, options?: QueryOptions): Promise<ResultCursor>;
  /** The documents of these ids, in the order of writing. @param index `undefined`: whatever their index. */
  byId(index: string | undefined, ids: readonly string[], options?: QueryOptions): Promise<StoredDocument[]>;
}

/** What reads and writes. */
export interface LogWriter extends LogReader {
  /** Stores documents, all of them or none; new fields extend the catalog. @throws UnfitDocuments, QueueFull */
  write(documents: readonly DocumentWrite[]): Promise<WrittenDocument[]>;
  /** What `write` would throw of these; nothing is stored. */
  misfits(documents: readonly DocumentWrite[]): Promise<UnfitValue[]>;
  /** Stores each document or says why not, one after the other; new fields extend the catalog. @throws QueueFull */
  writeEach(documents: readonly ConditionalWrite[]): Promise<DocumentOutcome[]>;
  /** Removes documents; `undefined` stands for one that was not there. @throws QueueFull */
  remove(places: readonly DocumentPlace[]): Promise<(RemovedDocument | undefined)[]>;
  /**
   * Gives an index fields of its own, or another mapping; fields that it has stay as they are. What is in it was written by its mapping.
   * @throws StoreFull
   */
  defineIndex(index: string, mapping: IndexMapping): Promise<void>;
  /** Removes the documents of an index, and the fields that are its own. @throws QueueFull, StoreFull */
  removeIndex(index: string): Promise<void>;
}

export interface LogStore extends LogWriter {
  /** Documents by index, of every index that has one. */
  counts(): Promise<ReadonlyMap<string, number>>;
  /** Does several things while nobody else writes. What it threw is thrown; what it wrote before stays. */
  exclusively<Result>(work: (writer: LogWriter) => Promise<Result>): Promise<Result>;
  /**
   * Puts the baseline back, or begins with another. Queries that are running end on what they began with; rows that are held can no
   * longer be read.
   * @param baseline `file` as `openLogStore` takes it.
   */
  reset(baseline?: { file: string | undefined }): Promise<void>;
  /** Replaces everything by these, in their order; all of it or nothing. @throws UnfitDocuments, RepeatedDocuments, what the documents throw */
  load(content: StoreContent): Promise<void>;
  /** Why nothing can be written at this moment, for want of room; `undefined`: it can. */
  refusal(): Promise<StoreFull | undefined>;
  /** Calls `listener` after each change until the returned function is called. */
  watch(listener: (change: StoreChange) => void): () => void;
  /** Waits for what runs, then leaves no file. */
  close(): Promise<void>;
}

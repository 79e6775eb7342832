/**
 * The events of one log twin, in a DuckDB database of their own.
 *
 * Table `documents`: one row an event.
 * | column | type | |
 * |---|---|---|
 * | `_row` | BIGINT | its number, in the order of writing; never used again |
 * | `_id`, `_index` | VARCHAR | |
 * | `_version`, `_seq_no` | BIGINT | |
 * | `_source` | VARCHAR | the event as it was written, as JSON text |
 * | one a field | see `FieldType` | the value; NULL when it has none; a LIST if the field is `multi` |
 *
 * One table of postings a text field (`Field.postings`), sorted by term, row and position:
 * | column | type | |
 * |---|---|---|
 * | `term` | VARCHAR | |
 * | `_row` | BIGINT | the document |
 * | `position` | INTEGER | from 1; values of a list are 100 apart |
 * | `frequency` | INTEGER | how often the term is in the field of this document, at its first occurrence; else 0 |
 * | `length` | INTEGER | tokens in the field of this document |
 */
import type { FieldCatalog } from "../fields.ts";
import type { Sql } from "../sql.ts";

export interface QueryOptions {
  /** Aborting ends the query. */
  signal?: AbortSignal;
  /** How long it may run; the store's own limit when absent. */
  deadlineMs?: number;
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

/** The query was ended before it had an answer. */
export class QueryInterrupted extends Error {
  readonly reason: "deadline" | "cancelled";
  constructor(reason: "deadline" | "cancelled", afterMs: number) {
    super(
      `the query was ${reason === "deadline" ? "ended by its deadline" : "cancelled"} after ${Math.round(afterMs)} ms`,
    );
    this.name = "QueryInterrupted";
    this.reason = reason;
  }
}

export interface DocumentWrite {
  /** Made from the row's number when absent. */
  id?: string;
  index: string;
  /** The event as JSON text, kept as it is; an object. */
  source: string;
  /** The version it gets; when absent, one more than that of the document it replaces, or 1. */
  version?: number;
}

/** Where a document is. */
export interface DocumentPlace {
  index: string;
  id: string;
}

export interface RemovedDocument {
  /** One more than the version that was removed. */
  version: number;
  seqNo: number;
}

/** A value that its field cannot hold. */
export interface UnfitValue {
  /** Position of the document among those to be written. */
  document: number;
  field: string;
  /** Type of the field: `long`, `date`, … */
  type: string;
  /** As JSON text. */
  value: string;
  /** `For input string: "cheap"`. */
  reason: string;
}

/** Documents with values that do not fit; none of the documents is stored. */
export class UnfitDocuments extends Error {
  readonly values: readonly UnfitValue[];
  constructor(values: readonly UnfitValue[]) {
    super(values.map(({ field, type, reason }) => `${field} (${type}): ${reason}`).join("; "));
    this.name = "UnfitDocuments";
    this.values = values;
  }
}

export interface WrittenDocument {
  id: string;
  index: string;
  version: number;
  seqNo: number;
  /** `updated`: there was a document with this id in this index, and it is replaced. */
  result: "created" | "updated";
}

export interface LogStore {
  /** The fields as they are now. */
  readonly fields: FieldCatalog;
  /** Grows with every change. */
  readonly stateVersion: number;
  /** Runs one statement that reads. @throws QueryInterrupted, or DuckDB's error. */
  query(statement: Sql, options?: QueryOptions): Promise<QueryResult>;
  /**
   * Stores documents, all of them or none; new fields extend the catalog. No two of them have the same place.
   * @throws UnfitDocuments
   */
  write(documents: readonly DocumentWrite[]): Promise<WrittenDocument[]>;
  /** Removes documents; `undefined` stands for one that was not there. No two of them have the same place. */
  remove(documents: readonly DocumentPlace[]): Promise<(RemovedDocument | undefined)[]>;
  close(): Promise<void>;
}

/** The input and the result of compiling a query of the Query DSL. */

import type { FieldCatalog } from "@offhook/log-store/fields";
import type { Sql } from "@offhook/log-store/sql";
import type { IndexGroup } from "../indices/visible-fields.ts";
import type { Locate } from "../json/position.ts";
import type { VendorError } from "../vendor/error.ts";
import type { Fidelity } from "../vendor/fidelity.ts";
import type { Mark } from "./mark.ts";

/** Looks up the one row of numbers that a statement gives; `undefined` while it is unknown. See `term-statistics.ts`. */
export type TermStatistics = (statement: Sql) => readonly number[] | undefined;

export interface QueryContext {
  fields: FieldCatalog;
  /** Including the fields inside `nested` objects; absent: there are none. */
  allFields?: FieldCatalog;
  /** The searched indices grouped by their fields; absent: all have the same. */
  groups?: readonly IndexGroup[];
  fidelity: Fidelity;
  /** The sandbox's time, milliseconds since the Unix epoch: what `now` means. */
  nowMs: number;
  /** The first searched index: errors name its shard. */
  index: string;
  /** False where scores are not used: boosts then count only inside clauses that compute scores themselves. */
  scores?: boolean;
  /** The query is validated and not run, so the errors that the vendor finds while scoring do not occur. */
  validated?: true;
  /** Absent: the compiled statement counts everything itself. */
  termStatistics?: TermStatistics;
  /** Adds line and column to errors. See `json/position.ts`. */
  locate?: Locate;
}

/** A clause that `specification` dropped: the query matches more documents than written. */
export interface DroppedClause {
  /** `prefix`, `span_near`, … */
  clause: string;
  /** Where it stood: `query.bool.must[0]`. */
  path: string;
  reason: string;
}

/** Why a document has its score: a node of the vendor's tree. `value` is in single precision. */
export interface Explanation {
  value: number;
  description: string;
  details: Explanation[];
}

/** Runs a statement and returns its rows: a store's `query`. */
export type Ask = (statement: Sql) => Promise<readonly (readonly unknown[])[]>;

/** An error that every shard of some indices answers with. */
export interface ShardFailures {
  readonly names: readonly string[];
  readonly error: VendorError;
}

export interface CompiledQuery {
  /** A boolean expression over `documents AS d`, complete in itself; never NULL. */
  predicate: Sql;
  /** `SELECT _row FROM …`: the same documents, each once. Reads the postings alone where they suffice. */
  matches: Sql;
  /** `SELECT _row, score FROM …`: the same documents, each once, with the vendor's scores (single precision, as DOUBLE). */
  scored: Sql;
  /** The score that all documents share, a number or a scalar subquery; with it `scored` need not run. */
  constantScore: number | Sql | undefined;
  dropped: readonly DroppedClause[];
  /** Indices that fail on this query while others succeed: their documents are missing from the result. */
  failures?: readonly ShardFailures[];
  /** The searched terms by field, for highlighting. */
  marks: ReadonlyMap<string, readonly Mark[]>;
  /** Predicates of the clauses with a `_name`, for `matched_queries`. */
  named: ReadonlyMap<string, Sql>;
  /** Why the document in this row has its score; `undefined` when the query does not match it. */
  explain(ask: Ask, row: bigint): Promise<Explanation | undefined>;
}

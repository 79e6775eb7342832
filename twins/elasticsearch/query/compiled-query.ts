/** What a query of the Query DSL becomes. */

import type { FieldCatalog } from "@offhook/log-store/fields";
import type { Sql } from "@offhook/log-store/sql";
import type { IndexGroup } from "../indices/united-fields.ts";
import type { VendorError } from "../vendor/error.ts";
import type { Fidelity } from "../vendor/fidelity.ts";
import type { Mark } from "./mark.ts";

/** Names and indices from the query's own JSON down: `["bool", "must", 0, "term"]`. */
export type JsonPath = readonly (string | number)[];

export interface Position {
  /** From 1. */
  line: number;
  /** From 1, in bytes. */
  col: number;
}

/**
 * A place about the value at a path: where it begins, or the name before it; its closing bracket; what follows it, or its opening
 * bracket.
 */
export type PlaceIn = "name" | "value" | "end" | "after" | "inside";

/** Where a place is in the text of the request. */
export interface Locate {
  (path: JsonPath, what: PlaceIn): Position | undefined;
  /** The text as Jackson shows it: its first 500 bytes. */
  readonly source?: string;
}

/** The one row of numbers that a statement gives, if that is known. */
export type Figures = (statement: Sql) => readonly number[] | undefined;

export interface QueryContext {
  fields: FieldCatalog;
  /** With those that `nested` alone looks at; absent: there are none. */
  allFields?: FieldCatalog;
  /** The indices searched, by the fields that they have, where these differ. */
  groups?: readonly IndexGroup[];
  fidelity: Fidelity;
  /** The sandbox's time, milliseconds since the Unix epoch: what `now` means. */
  nowMs: number;
  /** The first of the indices searched: the one whose shard fails. */
  index: string;
  /** False where nobody asks for scores: a boost then counts within what reckons scores itself alone. */
  scores?: boolean;
  /** The query is checked and not run: what the vendor finds wrong while it scores is not looked for. */
  validated?: true;
  /** See `figures.ts`; without them everything is reckoned by the statement itself. */
  figures?: Figures;
  /** Gives errors their line and column; without it they have none. See `json-position.ts`. */
  locate?: Locate;
}

/** A clause that `specification` left out, so that the query matches more than it says. */
export interface DroppedClause {
  /** `prefix`, `span_near`, … */
  clause: string;
  /** Where it stood: `query.bool.must[0]`. */
  path: string;
  reason: string;
}

/** Why a document has its score: the vendor's own tree. `value` in single precision. */
export interface Explanation {
  value: number;
  description: string;
  details: Explanation[];
}

/** Runs a statement and gives its rows: a store's `query`. */
export type Ask = (statement: Sql) => Promise<readonly (readonly unknown[])[]>;

/** Why none of some indices' shards can be asked a query. */
export interface ShardFailures {
  readonly names: readonly string[];
  readonly error: VendorError;
}

export interface CompiledQuery {
  /** A boolean expression over `documents AS d`, complete in itself; never NULL. */
  predicate: Sql;
  /** `SELECT _row FROM …`: the same documents, each once. Counts without reading `documents` where the postings say enough. */
  matches: Sql;
  /** `SELECT _row, score FROM …`: the same documents, each once, with the vendor's scores (single precision, as DOUBLE). */
  scored: Sql;
  /** The score of every document, when all have the same, a number or a scalar subquery: `scored` need not be run then. */
  constantScore: number | Sql | undefined;
  dropped: readonly DroppedClause[];
  /** Indices that cannot be asked so, where others can: their documents are not found. */
  failures?: readonly ShardFailures[];
  /** What was looked for, by field. */
  marks: ReadonlyMap<string, readonly Mark[]>;
  /** Clauses with a `_name`, each with its predicate: what `matched_queries` names. */
  named: ReadonlyMap<string, Sql>;
  /** Why the document in this row has its score; `undefined` when the query does not match it. */
  explain(ask: Ask, row: bigint): Promise<Explanation | undefined>;
}

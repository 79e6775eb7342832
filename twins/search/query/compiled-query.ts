/** What a query of the Query DSL becomes. */
import type { FieldCatalog } from "../../datasets/fields.ts";
import type { Sql } from "../../datasets/sql.ts";

/**
 * How closely the twin follows the vendor. `specification`: the rules of the sandbox's specification, which drops what it does not
 * know and takes date math literally. `vendor`: what 8.15 does.
 */
export type Fidelity = "specification" | "vendor";

export interface QueryContext {
  fields: FieldCatalog;
  fidelity: Fidelity;
  /** The sandbox's time, milliseconds since the Unix epoch: what `now` means. */
  nowMs: number;
}

/** A clause that `specification` left out, so that the query matches more than it says. */
export interface DroppedClause {
  /** `prefix`, `span_near`, … */
  clause: string;
  /** Where it stood: `query.bool.must[0]`. */
  path: string;
  reason: string;
}

export interface CompiledQuery {
  /** A boolean expression over `documents AS d`, complete in itself; never NULL. */
  predicate: Sql;
  /** `SELECT _row, score FROM …`: the same documents, each once, with the vendor's scores (single precision, as DOUBLE). */
  scored: Sql;
  /** The score of every document, when all have the same: `scored` need not be run then. */
  constantScore: number | undefined;
  dropped: readonly DroppedClause[];
  /** The words that were looked for, by field: what highlighting marks. */
  terms: ReadonlyMap<string, readonly string[]>;
}

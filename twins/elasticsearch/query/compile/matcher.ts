/** A compiled clause: the documents it matches, and their scores. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Ask, Explanation } from "../compiled-query.ts";
import { explanation } from "../score/explain.ts";
import type { FieldSearch, WholeValue } from "./field-search.ts";

/**
 * `uniform`: all matching documents share a score, a number or a scalar subquery (as for a keyword, whose score depends on its
 * document frequency). `ranked`: `SELECT _row, score`, each matching document once.
 */
type Score =
  | { readonly kind: "uniform"; readonly value: number | Sql }
  | { readonly kind: "ranked"; readonly rows: Sql };

export interface Matcher {
  /** Over `documents AS d`; never NULL. */
  readonly predicate: Sql;
  readonly score: Score;
  /** `SELECT _row` of the same documents, each once; present where `documents` need not be read. */
  readonly rows?: Sql | undefined;
  /** The search, when it is of one analysed field: equal searches of many fields run in one pass. */
  readonly inField?: FieldSearch;
  /** The same for a field of whole values. */
  readonly whole?: WholeValue;
  /** Why the document in this row has its score. Call it only for matching documents. */
  explain(ask: Ask, row: bigint): Promise<Explanation>;
}

export const TRUE = raw("true");
export const FALSE = raw("false");

export const nothing: Matcher = {
  predicate: FALSE,
  score: { kind: "uniform", value: 0 },
  explain: async () => explanation(0, "MatchNoDocsQuery"),
};

/** Matches the documents of a predicate, all with one score. @param what the clause, as explanations name it */
export function uniform(predicate: Sql, value: number, what: string): Matcher {
  if (predicate === FALSE) return nothing;
  return { predicate, score: { kind: "uniform", value }, explain: async () => explanation(value, what) };
}

/** Computes a value on first use: a score that nobody reads then needs no term statistics. */
export function lazy<Value>(compute: () => Value): () => Value {
  let computed: { value: Value } | undefined;
  return () => {
    computed ??= { value: compute() };
    return computed.value;
  };
}

/** A search of one field. `compile` runs only when the search is not merged with those of other fields. */
export function inField(search: FieldSearch, compile: () => Matcher): Matcher {
  const compiled = lazy(compile);
  return {
    inField: search,
    get predicate() {
      return compiled().predicate;
    },
    get rows() {
      return compiled().rows;
    },
    get score() {
      return compiled().score;
    },
    explain: (ask, row) => compiled().explain(ask, row),
  };
}

/**
 * Whether the document is among some rows. The detour over a list makes the planner assume few rows: it then probes them with the
 * documents, and not the other way round.
 */
export function inRows(rows: Sql): Sql {
  return sql`d._row IN (SELECT unnest(list(_row)) FROM (${rows}))`;
}

export function allOf(predicates: readonly Sql[]): Sql {
  if (predicates.includes(FALSE)) return FALSE;
  const kept = predicates.filter((predicate) => predicate !== TRUE);
  if (kept.length < 2) return kept[0] ?? TRUE;
  return sql`(${joined(kept, " AND ")})`;
}

export function anyOf(predicates: readonly Sql[]): Sql {
  if (predicates.includes(TRUE)) return TRUE;
  const kept = predicates.filter((predicate) => predicate !== FALSE);
  if (kept.length < 2) return kept[0] ?? FALSE;
  return sql`(${joined(kept, " OR ")})`;
}

export function not(predicate: Sql): Sql {
  if (predicate === TRUE) return FALSE;
  return predicate === FALSE ? TRUE : sql`(NOT ${predicate})`;
}

/** A score as an expression. */
export function scoreSql(value: number | Sql): Sql {
  return typeof value === "number" ? sql`CAST(${value} AS FLOAT)` : value;
}

/** `SELECT _row` of the matching documents. */
export function matchingRows({ predicate, rows }: Matcher): Sql {
  return rows ?? sql`SELECT d._row FROM documents AS d WHERE ${predicate}`;
}

/** `SELECT _row, score` of the matching documents. */
export function scoredRows({ predicate, score }: Matcher): Sql {
  if (score.kind === "ranked") return score.rows;
  return sql`SELECT d._row, ${scoreSql(score.value)} AS score FROM documents AS d WHERE ${predicate}`;
}

/** What a clause becomes: which documents it matches, and what they score. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Ask, Explanation } from "../compiled-query.ts";
import type { FieldSearch } from "./field-search.ts";
import type { WholeValue } from "./whole-values.ts";

/**
 * `uniform`: every document that matches scores the same, a number or a scalar subquery (as words of a keyword do, whose score
 * depends on how many documents have them). `ranked`: `SELECT _row, score`, each document that matches once.
 */
export type Score =
  | { readonly kind: "uniform"; readonly value: number | Sql }
  | { readonly kind: "ranked"; readonly rows: Sql };

export interface Matcher {
  /** Over `documents AS d`; never NULL. */
  readonly predicate: Sql;
  readonly score: Score;
  /** `SELECT _row` of the same documents, each once, where there is a way that need not look at `documents`. */
  readonly rows?: Sql | undefined;
  /** What it looks for, where that is in one analysed field: the same in many fields is found in one pass. */
  readonly inField?: FieldSearch;
  /** The same of a field that is looked at as a whole. */
  readonly whole?: WholeValue;
  /** Why the document in this row has its score. Asked of documents that match alone. */
  explain(ask: Ask, row: bigint): Promise<Explanation>;
}

export const TRUE = raw("true");
export const FALSE = raw("false");

export const nothing: Matcher = {
  predicate: FALSE,
  score: { kind: "uniform", value: 0 },
  explain: async () => explanation(0, "MatchNoDocsQuery"),
};

/** Documents of a predicate, all with one score. @param what is matched, as explanations say it */
export function uniform(predicate: Sql, value: number, what: string): Matcher {
  if (predicate === FALSE) return nothing;
  return { predicate, score: { kind: "uniform", value }, explain: async () => explanation(value, what) };
}

/** What is reckoned when it is first asked for: a score may ask for figures that nobody needs otherwise. */
export function once<Value>(reckon: () => Value): () => Value {
  let kept: { value: Value } | undefined;
  return () => {
    kept ??= { value: reckon() };
    return kept.value;
  };
}

/** A search of one field, which is compiled only when it is not carried out together with those of other fields. */
export function inField(search: FieldSearch, compile: () => Matcher): Matcher {
  const compiled = once(compile);
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

export function explanation(value: number, description: string, details: Explanation[] = []): Explanation {
  return { value: Math.fround(value), description, details };
}

/**
 * The document is one of some rows. They go through a list, so that the planner takes them to be few: it then looks the documents up
 * among them, and not the other way round.
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

/** `SELECT _row` of whatever a clause matches. */
export function matchedRows({ predicate, rows }: Matcher): Sql {
  return rows ?? sql`SELECT d._row FROM documents AS d WHERE ${predicate}`;
}

/** `SELECT _row, score` of whatever a clause matches. */
export function rowsOf({ predicate, score }: Matcher): Sql {
  if (score.kind === "ranked") return score.rows;
  return sql`SELECT d._row, ${scoreSql(score.value)} AS score FROM documents AS d WHERE ${predicate}`;
}

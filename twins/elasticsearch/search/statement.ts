/** The statement that counts hits and selects the rows of a page. */
import { joined, raw, type Sql, type SqlValue, sql } from "@offhook/log-store/sql";
import type { CompiledQuery } from "../query/compiled-query.ts";
import type { SortKey } from "./sort-key.ts";

export interface PageQuestion {
  query: CompiledQuery;
  /** Further conditions over `documents AS d`: indices, post filter, snapshot. */
  filters: readonly Sql[];
  keys: readonly SortKey[];
  /** Sort values of the last hit of the previous page, one per key. */
  after: readonly SqlValue[] | undefined;
  from: number;
  size: number;
  /** Whether hits are scored. */
  scores: boolean;
  minScore: number | undefined;
  /** Score factors by index. */
  boosts: readonly { predicate: Sql; factor: number }[];
  /** Stop after this many matches; 0: never. */
  terminateAfter: number;
  /** Count hits up to here. */
  countUpTo: number;
  /** Keep only the best hit of each value. */
  collapseBy: Sql | undefined;
}

/**
 * Columns: `total`, `max_score`, then for each row of the page `_row`, `score`, the collapse value, and a value per
 * sort key.
 * There is always a row; without hits its `_row` is NULL.
 */
export function pageStatement(question: PageQuestion): Sql {
  const { size, countUpTo, collapseBy } = question;
  const hits = hitsOf(question);
  if (size === 0) {
    return sql`WITH hits AS (${hits}) SELECT (${countStatement(countUpTo)}) AS total, NULL AS max_score, NULL AS _row`;
  }
  const collapsed = collapseBy
    ? sql`SELECT * FROM hits QUALIFY row_number() OVER (PARTITION BY group_value ORDER BY ${order(question.keys)}) = 1`
    : raw("SELECT * FROM hits");
  return sql`WITH hits AS MATERIALIZED (${hits}),
    page AS (SELECT * FROM (${collapsed}) WHERE ${afterPredicate(question)}
      ORDER BY ${order(question.keys)} LIMIT ${integer(size)} OFFSET ${integer(question.from)})
    SELECT totals.*, page.* FROM (SELECT count(*) AS total, max(score) AS max_score FROM hits) AS totals
    LEFT JOIN page ON true ORDER BY ${order(question.keys)}`;
}

/** Whether the search matches every document, so that the store's own count is the total. */
export function isEverything({ query, filters, minScore, terminateAfter }: PageQuestion): boolean {
  return (
    query.predicate.text === "true" && filters.length === 0 && minScore === undefined && terminateAfter === 0
  );
}

function countStatement(upTo: number): Sql {
  return Number.isFinite(upTo)
    ? sql`SELECT count(*) FROM (SELECT 1 FROM hits LIMIT ${integer(upTo + 1)})`
    : raw("SELECT count(*) FROM hits");
}

/** All hits with their sort keys, limited where any of them will do. */
function hitsOf(question: PageQuestion): Sql {
  const { query, filters, keys, scores, minScore, terminateAfter, collapseBy } = question;
  const ranked = scores && query.constantScore === undefined;
  const base = scores
    ? ranked
      ? raw("s.score")
      : sql`${query.constantScore ?? 0}`
    : raw("CAST(NULL AS DOUBLE)");
  const score = scores ? boostScore(base, question.boosts) : base;
  const columns = keys.flatMap((key, index) =>
    isScore(key) ? [] : [sql`${key.value} AS ${keyName(index)}`],
  );
  const conditions = [
    ...(ranked ? [] : [query.predicate]),
    ...filters,
    ...(minScore === undefined ? [] : [sql`${score} >= ${minScore}`]),
  ];
  const source = ranked ? rankedSource(question) : { from: raw("documents AS d"), row: raw("d._row") };
  const where = conditions.length === 0 ? sql`` : sql` WHERE ${joined(conditions, " AND ")}`;
  const group = collapseBy ? sql`, ${collapseBy} AS group_value` : sql`, NULL AS group_value`;
  const selected = joined([sql`${source.row} AS _row, ${score} AS score${group}`, ...columns], ", ");
  const maxHits = hitLimit(question, conditions);
  const limit = maxHits === undefined ? sql`` : sql` LIMIT ${integer(maxHits)}`;
  const end = terminateAfter > 0 ? sql` ORDER BY d._row LIMIT ${integer(terminateAfter)}` : limit;
  return sql`SELECT _row, score, group_value${keysOf(keys)} FROM
    (SELECT ${selected} FROM ${source.from}${where}${end})`;
}

/** Key columns of a hit. The score column serves as a key, too, so it is computed once. */
function keysOf(keys: readonly SortKey[]): Sql {
  const columns = keys.map((key, index) =>
    isScore(key) ? sql`, score AS ${keyName(index)}` : sql`, ${keyName(index)}`,
  );
  return joined(columns, "");
}

/** The scored documents, joined with their columns only when something reads these. */
function rankedSource(question: PageQuestion): { from: Sql; row: Sql } {
  const { query, filters, keys, boosts, collapseBy, terminateAfter } = question;
  const asked = filters.length > 0 || boosts.length > 0 || collapseBy !== undefined || terminateAfter > 0;
  if (!asked && keys.every(isScore)) return { from: sql`(${query.scored}) AS s`, row: raw("s._row") };
  return { from: sql`(${query.scored}) AS s JOIN documents AS d ON d._row = s._row`, row: raw("d._row") };
}

/**
 * How many hits suffice for page and count when the page is in the order of writing, which is the order of a scan;
 * `undefined` when all are needed. A join may reorder them.
 */
function hitLimit(question: PageQuestion, conditions: readonly Sql[]): number | undefined {
  const { query, keys, scores, boosts, after, collapseBy, from, size, countUpTo } = question;
  const alike = !scores || (query.constantScore !== undefined && boosts.length === 0);
  const unordered = keys.every((key) => (isScore(key) ? alike : isWriting(key)));
  const scanned = conditions.every(({ text }) => !/\bselect\b/i.test(text));
  if (!unordered || !scanned || after || collapseBy || !Number.isFinite(countUpTo)) return undefined;
  return Math.max(countUpTo + 1, from + size);
}

function isScore({ value }: SortKey): boolean {
  return value.text === "s.score";
}

function isWriting({ value, order }: SortKey): boolean {
  return value.text === "d._row" && order === "asc";
}

function boostScore(score: Sql, boosts: PageQuestion["boosts"]): Sql {
  if (boosts.length === 0) return score;
  const cases = boosts.map(({ predicate, factor }) => sql`WHEN ${predicate} THEN ${factor}`);
  return sql`(${score} * CASE ${joined(cases, " ")} ELSE 1 END)`;
}

function keyName(index: number): Sql {
  return raw(`key_${index}`);
}

/** Ties are broken by the order of writing. */
function order(keys: readonly SortKey[]): Sql {
  const terms = keys.map(({ order, nullsFirst }, index) =>
    raw(`key_${index} ${order.toUpperCase()} NULLS ${nullsFirst ? "FIRST" : "LAST"}`),
  );
  return joined([...terms, raw("_row ASC")], ", ");
}

/** Keyset pagination: hits after the last one of the previous page. */
function afterPredicate({ keys, after }: PageQuestion): Sql {
  if (!after) return raw("true");
  let predicate: Sql = raw("false");
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index];
    const value = after[index];
    if (!key || value === undefined) continue;
    const { later, equal } = comparison(key, keyName(index), value);
    predicate = sql`(${later} OR (${equal} AND ${predicate}))`;
  }
  return predicate;
}

function comparison({ order, nullsFirst }: SortKey, name: Sql, value: SqlValue): { later: Sql; equal: Sql } {
  if (value === null) {
    return { later: nullsFirst ? sql`${name} IS NOT NULL` : raw("false"), equal: sql`${name} IS NULL` };
  }
  const beyond = order === "asc" ? sql`${name} > ${value}` : sql`${name} < ${value}`;
  return {
    later: nullsFirst ? sql`coalesce(${beyond}, false)` : sql`(${name} IS NULL OR ${beyond})`,
    equal: sql`coalesce(${name} = ${value}, false)`,
  };
}

function integer(value: number): Sql {
  return sql`${BigInt(value)}`;
}

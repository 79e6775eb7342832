/** `bool`: combines clauses; the score is the sum over `must` and `should`. */
import { joined, raw, type Sql, sql } from "@offhook/log-store/sql";
import type { Ask, Explanation } from "../compiled-query.ts";
import { explanation } from "../score/explain.ts";
import type { BoolQuery } from "../syntax/query.ts";
import type { Compiler } from "./compiler.ts";
import { allOf, anyOf, FALSE, lazy, type Matcher, not, nothing, TRUE, uniform } from "./matcher.ts";
import { requiredOptional } from "./minimum-should-match.ts";

/** Compiled clauses: `must` and `should` score. */
export interface Clauses {
  readonly must: readonly Matcher[];
  readonly should: readonly Matcher[];
  /** `filter`, and `must_not` negated. */
  readonly filter: readonly Sql[];
  /** How many of `should` must match. */
  readonly minimum: number;
}

export function compileBool(compiler: Compiler, query: BoolQuery, boost: number): Matcher {
  compiler.count(1);
  // In the vendor's order, so that the same invalid clause is reported first.
  const must = query.must.map((clause) => compiler.compile(clause, boost));
  const mustNot = query.mustNot.map((clause) => {
    return not(compiler.withoutMarks(() => compiler.compileUnscored(clause, boost)).predicate);
  });
  const should = query.should.map((clause) => compiler.compile(clause, boost));
  // The boost matters for a `min_score` inside a filter. In a `bool` of filters alone it does not reach them.
  const filterBoost = query.must.length + query.should.length === 0 ? 1 : boost;
  const filter = query.filter.map((clause) => compiler.compileUnscored(clause, filterBoost).predicate);
  const clauses = must.length + should.length + filter.length + mustNot.length;
  if (clauses === 0) return uniform(TRUE, boost, "*:*");
  const minimum = minimumOf(query);
  // A `bool` that only excludes matches every other document, whatever `minimum_should_match` says.
  const excludesOnly = mustNot.length === clauses;
  return combine({ must, should, filter: [...filter, ...mustNot], minimum: excludesOnly ? 0 : minimum });
}

function minimumOf(query: BoolQuery): number {
  // Dropped clauses count as matched, so that dropping one never narrows the query.
  const { droppedShould, droppedRequired } = query;
  const optional = query.should.length + droppedShould;
  const required = query.must.length + query.filter.length + droppedRequired;
  return Math.max(0, requiredOptional(query.minimumShouldMatch, { optional, required }) - droppedShould);
}

/** Matches documents that meet all clauses and at least `minimum` of `should`. */
export function combine(written: Clauses): Matcher {
  const clauses = dropImpossible(written);
  if (!clauses) return nothing;
  const { must, should, filter, minimum } = clauses;
  const [only] = must;
  if (only && must.length === 1 && should.length === 0 && filter.length === 0) return only;
  const predicate = allOf([
    ...filter,
    ...must.map((clause) => clause.predicate),
    ...(minimum > 0
      ? [
          atLeast(
            should.map((clause) => clause.predicate),
            minimum,
          ),
        ]
      : []),
  ]);
  if (predicate === FALSE) return nothing;
  const allRanked =
    filter.length === 0 && [...must, ...clauses.should].every((clause) => clause.score.kind === "ranked");
  const score = lazy(() => scoreOf(clauses));
  const ranked = allRanked ? score() : undefined;
  return {
    predicate,
    get score() {
      return score();
    },
    // Clauses that all read postings are joined on their scored rows.
    ...(ranked?.kind === "ranked" && { rows: sql`SELECT _row FROM ${ranked.rows}` }),
    explain: (ask, row) => explainClauses(clauses, ask, row),
  };
}

/** Drops optional clauses that match nothing, and requires `should` where all are needed; `undefined` when nothing can match. */
function dropImpossible({ must, should, filter, minimum }: Clauses): Clauses | undefined {
  if (minimum > should.length) return undefined;
  if (minimum > 0 && minimum === should.length)
    return { must: [...must, ...should], should: [], filter, minimum: 0 };
  return { must, should: should.filter(({ predicate }) => predicate !== FALSE), filter, minimum };
}

function atLeast(predicates: readonly Sql[], minimum: number): Sql {
  if (minimum === 1) return anyOf(predicates);
  if (minimum > predicates.length) return FALSE;
  return sql`${trueCount(predicates)} >= ${minimum}`;
}

/** An expression: how many of the predicates are true. */
function trueCount(predicates: readonly Sql[]): Sql {
  if (predicates.length === 0) return raw("0");
  return sql`(${joined(
    predicates.map((predicate) => sql`CAST(${predicate} AS INTEGER)`),
    " + ",
  )})`;
}

interface Uniform {
  readonly predicate: Sql;
  readonly value: number | Sql;
}
interface Ranked {
  readonly rows: Sql;
}

/** Splits clauses into those with one score for all documents and those with a score for each. */
function groupByScore(matchers: readonly Matcher[]): { uniform: Uniform[]; ranked: Ranked[] } {
  const parts: { uniform: Uniform[]; ranked: Ranked[] } = { uniform: [], ranked: [] };
  for (const { predicate, score } of matchers) {
    if (score.kind === "uniform") parts.uniform.push({ predicate, value: score.value });
    else parts.ranked.push({ rows: score.rows });
  }
  return parts;
}

function scoreOf({ must, should, filter, minimum }: Clauses): Matcher["score"] {
  const required = groupByScore(must);
  const optional = groupByScore(should);
  const base = sumOf(required.uniform.map(({ value }) => value));
  const guard = allOf([...filter, ...required.uniform.map((clause) => clause.predicate)]);
  // A predicate may read many fields, so it is evaluated once, as a column.
  const flags = optional.uniform.map((_, index) => raw(`optional${index}`));
  const flagged = optional.uniform.map(
    ({ predicate }, index) => sql`, ${predicate} AS ${flags[index] ?? raw("")}`,
  );
  const sum = optionalSum(optional.uniform, flags);
  if (required.ranked.length + optional.ranked.length === 0) {
    if (optional.uniform.length === 0) return { kind: "uniform", value: base };
    const enough = minimum > 0 ? atLeast(flags, minimum) : TRUE;
    return {
      kind: "ranked",
      rows: sql`(SELECT _row, CAST(${scoreDouble(base)} + ${sum} AS FLOAT) AS score
        FROM (SELECT d._row${joined(flagged, "")} FROM documents AS d WHERE ${guard}) WHERE ${enough})`,
    };
  }
  const ranked = rankedClauses(required.ranked, optional.ranked);
  const complete = required.ranked.length > 0 || (minimum > 0 && optional.uniform.length === 0);
  if (complete && guard === TRUE && optional.uniform.length === 0) {
    const enough = minimum > 0 ? sql`WHERE r.optional >= ${minimum}` : raw("");
    return {
      kind: "ranked",
      rows: sql`(SELECT r._row, CAST(r.score + ${scoreDouble(base)} AS FLOAT) AS score FROM (${ranked}) AS r ${enough})`,
    };
  }
  const enough = minimum > 0 ? sql`optional + ${trueCount(flags)} >= ${minimum}` : TRUE;
  const join = complete ? raw("JOIN") : raw("LEFT JOIN");
  return {
    kind: "ranked",
    rows: sql`(SELECT _row, CAST(score + ${scoreDouble(base)} + ${sum} AS FLOAT) AS score
      FROM (SELECT d._row, coalesce(r.score, 0) AS score, coalesce(r.optional, 0) AS optional${joined(flagged, "")}
            FROM documents AS d ${join} (${ranked}) AS r ON r._row = d._row WHERE ${guard})
      WHERE ${enough})`,
  };
}

/** With more clauses than this, scores are summed in one aggregation instead: a plan grows with each join. */
const MAX_JOINED = 24;

/** `_row, score, optional`: the sum over the ranked clauses, and how many optional ones matched. */
function rankedClauses(required: readonly Ranked[], optional: readonly Ranked[]): Sql {
  if (optional.length === 0 && required.length <= MAX_JOINED) {
    const [first, ...others] = required.map(({ rows }, index) => sql`${rows} AS ${raw(`r${index}`)}`);
    const sum = raw(required.map((_, index) => `CAST(r${index}.score AS DOUBLE)`).join(" + "));
    const joins = others.map((other) => sql`JOIN ${other} USING (_row)`);
    return sql`SELECT _row, ${sum} AS score, 0 AS optional FROM ${first ?? raw("")} ${joined(joins, " ")}`;
  }
  const part = (rows: Sql, must: 0 | 1) =>
    sql`SELECT _row, CAST(score AS DOUBLE) AS score, ${raw(String(must))} AS required, ${raw(String(1 - must))} AS optional
      FROM ${rows}`;
  const parts = [...required.map(({ rows }) => part(rows, 1)), ...optional.map(({ rows }) => part(rows, 0))];
  return sql`SELECT _row, sum(score) AS score, sum(optional) AS optional FROM (${joined(parts, " UNION ALL ")})
    GROUP BY _row HAVING sum(required) = ${required.length}`;
}

/** @param flags for each clause, a column that says whether it matches */
function optionalSum(clauses: readonly Uniform[], flags: readonly Sql[]): Sql {
  const scores = clauses.flatMap(({ value }, index) =>
    value === 0 ? [] : [sql`CASE WHEN ${flags[index] ?? FALSE} THEN ${scoreDouble(value)} ELSE 0 END`],
  );
  return scores.length === 0 ? raw("0") : joined(scores, " + ");
}

function scoreDouble(value: number | Sql): Sql {
  return typeof value === "number" ? sql`${value}` : sql`CAST(${value} AS DOUBLE)`;
}

function sumOf(values: readonly (number | Sql)[]): number | Sql {
  const numbers = values.filter((value) => typeof value === "number");
  const expressions = values.filter((value) => typeof value !== "number");
  const sum = numbers.reduce((total, value) => total + value, 0);
  if (expressions.length === 0) return Math.fround(sum);
  const [first] = expressions;
  if (first && expressions.length === 1 && sum === 0) return first;
  return sql`CAST(${joined([...expressions.map(scoreDouble), sql`${sum}`], " + ")} AS FLOAT)`;
}

async function explainClauses({ must, should }: Clauses, ask: Ask, row: bigint): Promise<Explanation> {
  const details: Explanation[] = [];
  for (const clause of must) details.push(await clause.explain(ask, row));
  for (const clause of should) {
    const matched = await ask(
      sql`SELECT 1 FROM documents AS d WHERE d._row = ${row} AND ${clause.predicate}`,
    );
    if (matched.length > 0) details.push(await clause.explain(ask, row));
  }
  return explanation(
    details.reduce((sum, { value }) => sum + value, 0),
    "sum of:",
    details,
  );
}

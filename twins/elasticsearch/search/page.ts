/** Finds the rows of one page, and the total. */

import { joined, type SqlValue, sql } from "@offhook/log-store/sql";
import { type LogStore, QueryInterrupted, type ResultValue } from "@offhook/log-store/store/log-store";
import { matchesPattern } from "@offhook/platform/base/star-pattern";
import { showSql } from "../query/show-sql.ts";
import { illegalOnShard, shardFailure } from "../vendor/shard-failure.ts";
import type { SearchContext } from "./context.ts";
import type { PageHit } from "./hits.ts";
import type { SearchPlan } from "./plan.ts";
import type { SearchRequest } from "./request.ts";
import { isEverything, type PageQuestion, pageStatement } from "./statement.ts";

interface FoundPage {
  total: number;
  maxScore: number | undefined;
  page: PageHit[];
  timedOut: boolean;
}

/** Finds the total and one page in a single statement. @param after sort values of the last hit of the page before */
export async function findPage(
  request: SearchRequest,
  plan: SearchPlan,
  { notes, store, engine, signal }: SearchContext,
  after: SqlValue[] | undefined,
): Promise<FoundPage> {
  const question: PageQuestion = {
    query: plan.query,
    filters: plan.filters,
    keys: plan.keys,
    after: after ?? (request.searchAfter && readAfter(request.searchAfter, plan, request.pit)),
    from: request.from,
    size: request.size,
    scores: plan.scores,
    minScore: request.minScore,
    boosts: request.indicesBoost.map(([pattern, factor]) => boostOf(pattern, factor, engine.index)),
    terminateAfter: request.terminateAfter,
    countUpTo: request.countUpTo,
    collapseBy: plan.collapse?.value,
  };
  if (question.size === 0 && isEverything(question)) {
    return { total: await countAll(store), maxScore: undefined, page: [], timedOut: false };
  }
  const statement = pageStatement(question);
  notes.addSql([showSql(statement)]);
  const deadline = request.timeoutMs === undefined ? {} : { deadlineMs: request.timeoutMs };
  try {
    const { rows } = await store.query(statement, { signal, ...deadline });
    return readPage(rows, plan, request);
  } catch (error) {
    const ended = error instanceof QueryInterrupted && error.reason === "deadline";
    if (!ended || request.timeoutMs === undefined) throw error;
    return { total: 0, maxScore: undefined, page: [], timedOut: true };
  }
}

async function countAll(store: LogStore): Promise<number> {
  return [...(await store.counts()).values()].reduce((sum, count) => sum + count, 0);
}

function boostOf(pattern: string, factor: number, index: string) {
  const like = pattern.replaceAll(/[%_\\]/g, "\\$&").replaceAll("*", "%");
  const predicate =
    matchesPattern(index, pattern) && pattern === "*" ? sql`true` : sql`d._index LIKE ${like} ESCAPE '\\'`;
  return { predicate, factor };
}

function readAfter(
  values: NonNullable<SearchRequest["searchAfter"]>,
  { keys, index }: SearchPlan,
  pit: SearchRequest["pit"],
): SqlValue[] {
  const expected = keys.filter(({ isShown }) => isShown).length;
  // The tiebreaker of a point in time is optional.
  const known = values.length === expected || (pit !== undefined && values.length === expected - 1);
  if (!known) {
    throw illegalOnShard(`search_after has ${values.length} value(s) but sort has ${expected}.`, index);
  }
  return values.map((value, number) => keys[number]?.read(value) ?? null);
}

/** Collapsing requires a single value per document. @throws VendorError */
export async function checkSingleValued(
  { minScore }: SearchRequest,
  { collapse, query, filters, index }: SearchPlan,
  { notes, store, signal }: SearchContext,
): Promise<void> {
  if (!collapse?.isMultiple) return;
  const found =
    minScore === undefined
      ? query.predicate
      : sql`d._row IN (SELECT _row FROM (${query.scored}) WHERE score >= ${minScore})`;
  const where = joined([found, ...filters, collapse.isMultiple], " AND ");
  const first = sql`SELECT min(d._row) FROM documents AS d WHERE ${where}`;
  // The error counts documents as Lucene does: from 0, within the index.
  const statement = sql`SELECT count(*), count(*) FILTER (WHERE _row = first) FROM documents AS e, (${first}) AS f(first)
    WHERE e._row <= first AND e._index = (SELECT _index FROM documents WHERE _row = first)`;
  notes.addSql([showSql(statement)]);
  const { rows } = await store.query(statement, { signal });
  const [before, isFound] = (rows[0] ?? []).map(Number);
  if (before === undefined || !isFound) return;
  const reason = `failed to extract doc:${before - 1}, the grouping field must be single valued`;
  throw shardFailure({ type: "illegal_state_exception", reason }, index);
}

/** Column positions of a page statement. */
const TOTAL = 0;
const MAX_SCORE = 1;
const ROW = 2;
const SCORE = 3;
const GROUP = 4;
const FIRST_KEY = 5;

function readPage(rows: readonly ResultValue[][], plan: SearchPlan, request: SearchRequest): FoundPage {
  const [first = []] = rows;
  const maxScore = first[MAX_SCORE];
  const page = rows
    .filter((row) => (row[ROW] ?? null) !== null)
    .map((row) => {
      const values = plan.keys.map((_, index) => row[FIRST_KEY + index] ?? null);
      return {
        row: BigInt(Number(row[ROW])),
        score: typeof row[SCORE] === "number" ? row[SCORE] : undefined,
        group: row[GROUP] ?? null,
        sort: plan.keys.flatMap((key, index) => (key.isShown ? [key.show(values[index] ?? null)] : [])),
        keyValues: values.map((value) => (Array.isArray(value) ? null : value)),
      };
    });
  const byScore = !plan.showsSort || request.trackScores;
  return {
    total: Number(first[TOTAL] ?? 0),
    maxScore: byScore && typeof maxScore === "number" ? maxScore : undefined,
    page,
    timedOut: false,
  };
}

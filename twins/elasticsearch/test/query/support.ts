/** A store with some events, and helpers that query it. */

import { sql } from "@offhook/log-store/sql";
import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import type { LogStore } from "@offhook/log-store/store/log-store";
import { compileQuery } from "../../query/compile.ts";
import type { CompiledQuery, Explanation } from "../../query/compiled-query.ts";
import { compileWithStatistics, TermStatisticsCache } from "../../query/term-statistics.ts";
import { VendorError } from "../../vendor/error.ts";
import type { Fidelity } from "../../vendor/fidelity.ts";

export const nowMs = Date.parse("2026-03-01T12:00:00Z");

export async function storeOf(events: readonly object[]): Promise<LogStore> {
  const store = await openLogStore();
  await store.write(
    events.map((event, index) => ({ id: String(index), index: "logs", source: JSON.stringify(event) })),
  );
  return store;
}

export function compile(
  store: LogStore,
  query: unknown,
  fidelity: Fidelity = "specification",
): CompiledQuery {
  return compileQuery(query, { fields: store.fields, fidelity, nowMs, index: "logs" });
}

/** The ids of the matches, in row order; asserts that predicate, scores and matches agree on the documents. */
export async function idsOf(store: LogStore, query: unknown, fidelity?: Fidelity): Promise<string[]> {
  const { predicate } = compile(store, query, fidelity);
  const { rows } = await store.query(
    sql`SELECT _id, (${predicate}) IS NULL FROM documents AS d WHERE ${predicate} ORDER BY _row`,
  );
  const ids = rows.map(([id]) => String(id));
  const scored = [...(await scoresOf(store, query, fidelity)).keys()];
  if (scored.join() !== ids.join()) throw new Error(`predicate: ${ids.join()}; scores: ${scored.join()}`);
  const counted = await store.query(
    sql`SELECT d._id FROM (${compile(store, query, fidelity).matches}) AS m JOIN documents AS d ON d._row = m._row ORDER BY d._row`,
  );
  if (counted.rows.join() !== ids.join())
    throw new Error(`predicate: ${ids.join()}; matches: ${counted.rows.join()}`);
  const nulls = await store.query(sql`SELECT count(*) FROM documents AS d WHERE (${predicate}) IS NULL`);
  if (nulls.rows[0]?.[0] !== 0) throw new Error("the predicate is NULL for some document");
  return ids;
}

/** Scores by id, in row order; asserts that they are the same with term statistics. */
export async function scoresOf(
  store: LogStore,
  query: unknown,
  fidelity: Fidelity = "specification",
): Promise<Map<string, number>> {
  const scores = await scoresByStatement(store, compile(store, query, fidelity));
  const context = { fields: store.fields, fidelity, nowMs, index: "logs" };
  const withStatistics = await compileWithStatistics(
    (termStatistics) => compileQuery(query, { ...context, termStatistics }),
    {
      store,
      cache: new TermStatisticsCache(),
      scores: true,
      ask: async (statement) => ((await store.query(statement)).rows[0] ?? []).map(Number),
    },
  );
  const { predicate } = withStatistics;
  const matched = await store.query(sql`SELECT _id FROM documents AS d WHERE ${predicate} ORDER BY _row`);
  if (matched.rows.join() !== [...scores.keys()].join())
    throw new Error(`with statistics: ${matched.rows.join()}; without: ${[...scores.keys()].join()}`);
  for (const [id, score] of await scoresByStatement(store, withStatistics)) {
    const without = scores.get(id) ?? Number.NaN;
    if (!(Math.abs(score - without) <= 1e-6 * Math.max(1, Math.abs(without))))
      throw new Error(`${id} scores ${score} with statistics, ${without} without`);
  }
  return scores;
}

async function scoresByStatement(
  store: LogStore,
  { scored, constantScore }: CompiledQuery,
): Promise<Map<string, number>> {
  const { rows } = await store.query(
    sql`SELECT d._id, s.score FROM (${scored}) AS s JOIN documents AS d ON d._row = s._row ORDER BY d._row`,
  );
  if (typeof constantScore === "number" && rows.some(([, score]) => score !== constantScore)) {
    throw new Error(`not every score is ${constantScore}`);
  }
  return new Map(rows.map(([id, score]) => [String(id), Number(score)]));
}

export async function explain(
  store: LogStore,
  query: unknown,
  row: number,
  fidelity?: Fidelity,
): Promise<Explanation | undefined> {
  const ask = async (statement: Parameters<LogStore["query"]>[0]) => (await store.query(statement)).rows;
  return compile(store, query, fidelity).explain(ask, BigInt(row));
}

/** The vendor error that a call throws. */
export function errorOf(ask: () => unknown): VendorError {
  try {
    ask();
  } catch (error) {
    if (error instanceof VendorError) return error;
    throw error;
  }
  throw new Error("there was no error");
}

/**
 * Term statistics, fetched from the store before a query is compiled: document frequencies and lengths. With them, scores become
 * constants in the statement and a rare value is found by its postings. They hold until the next write.
 */
import type { Sql } from "@offhook/log-store/sql";
import type { LogStore } from "@offhook/log-store/store/log-store";
import type { CompiledQuery, TermStatistics } from "./compiled-query.ts";

/** Cached answers for one state of the store. */
const MAX_CACHED = 10_000;
/** A query that needs more lookups than this is compiled without: its statement counts the words itself. */
const MAX_LOOKUPS = 12;
/** One lookup can lead to another: first whether a value is rare, then how many documents have it. */
const MAX_PASSES = 3;

/** Caches the statistics of one store at a time, and drops them with the next write. */
export class TermStatisticsCache {
  #store: LogStore | undefined;
  #stateVersion = 0;
  #rows = new Map<string, readonly number[]>();

  /** The answers known for the present state of a store, by `keyOf` of their statements. */
  rowsOf(store: LogStore): Map<string, readonly number[]> {
    const { stateVersion } = store;
    if (this.#store !== store || this.#stateVersion !== stateVersion || this.#rows.size >= MAX_CACHED) {
      this.#store = store;
      this.#stateVersion = stateVersion;
      this.#rows = new Map();
    }
    return this.#rows;
  }
}

export interface StatisticsOptions {
  store: LogStore;
  cache: TermStatisticsCache;
  /** Whether the query's scores are used. */
  scores: boolean;
  /** Runs a statement on the store; the answer is one row of numbers. */
  ask(statement: Sql): Promise<readonly number[]>;
}

/**
 * Compiles a query with the term statistics that make its statement cheaper.
 * @param compile called once for each pass
 */
export async function compileWithStatistics(
  compile: (termStatistics: TermStatistics) => CompiledQuery,
  { store, cache, scores, ask }: StatisticsOptions,
): Promise<CompiledQuery> {
  for (let pass = 1; ; pass++) {
    const known = cache.rowsOf(store);
    const missing = new Map<string, Sql>();
    const isLast = () => missing.size === 0 || missing.size > MAX_LOOKUPS || pass > MAX_PASSES;
    try {
      const compiled = compile((statement) => {
        const key = keyOf(statement);
        const row = known.get(key);
        if (!row) missing.set(key, statement);
        return row;
      });
      // The getter is lazy: reading it makes the score look its statistics up.
      if (scores && compiled.constantScore === undefined) void compiled.scored;
      if (isLast()) return compiled;
    } catch (error) {
      // With the statistics known, the failing clause may turn out to match no document and be dropped.
      if (isLast()) throw error;
    }
    await Promise.all(
      [...missing].map(async ([key, statement]) => {
        known.set(key, await ask(statement));
      }),
    );
  }
}

function keyOf({ text, values }: Sql): string {
  return JSON.stringify([text, values.map(String)]);
}

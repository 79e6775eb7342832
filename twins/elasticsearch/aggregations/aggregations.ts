/** The aggregations of a search. */
import { raw, type Sql } from "@offhook/log-store/sql";
import type { LogStore, QueryOptions } from "@offhook/log-store/store/log-store";
import { VendorError } from "../vendor/error.ts";
import { isShardFailure, shardFailure } from "../vendor/shard-failure.ts";
import { assemble, type PendingHits } from "./assemble.ts";
import { buildAggregations } from "./build-aggregations.ts";
import { FilterColumns } from "./clauses.ts";
import type { AggregationContext } from "./context.ts";
import type { Level } from "./parse.ts";
import { renderResults } from "./result.ts";
import { compileAggregations } from "./statement.ts";

export interface RunOptions extends QueryOptions {
  /** Which documents are searched at all, over `documents AS d`: those that a `global` aggregation is of. Default: every one. */
  scope?: Sql;
  /** Names of results are with their types: `sterms#name`. */
  typedKeys?: boolean;
}

export interface AggregationsAnswer {
  /** The member `aggregations` of the answer. */
  body: ReadonlyMap<string, unknown>;
  /** The statements that were run. */
  statements: string[];
}

export interface AggregationPlan {
  /**
   * @param predicate of the query, over `documents AS d`
   * @throws VendorError `too_many_buckets_exception`; QueryInterrupted
   */
  run(store: LogStore, predicate: Sql, options?: RunOptions): Promise<AggregationsAnswer>;
}

/**
 * Builds aggregations as a shard does.
 * @param aggregations of a request: see `parseAggregations`
 * @throws VendorError that says which shard cannot answer them
 */
export function planAggregations(aggregations: Level, context: AggregationContext): AggregationPlan {
  const { fields, index } = context;
  const filters = new FilterColumns(fields);
  const built = onShard(index, () => buildAggregations(aggregations, { ...context, filters })());
  return {
    async run(store, predicate, { scope = everything, typedKeys = false, ...options } = {}) {
      const documents = { predicate, scope, filters };
      const { statement, root } = compileAggregations(built, documents, fields);
      const answer = statement ? await store.query(statement, options) : { columns: [], rows: [] };
      const { results, hits } = assemble(built, root, answer);
      await renderHits(hits);
      return { body: renderResults(results, typedKeys), statements: statement ? [statement.text] : [] };
    },
  };
}

/** What a shard finds wrong fails there. @throws VendorError */
function onShard<Result>(index: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (isShardFailure(error) || !(error instanceof VendorError)) throw error;
    throw shardFailure(error.cause, index, error.status);
  }
}

/** The predicate of a search without a query. */
export const everything: Sql = raw("TRUE");

/** All groups of one aggregation together. */
async function renderHits(pending: readonly PendingHits[]): Promise<void> {
  for (const aggregation of new Set(pending.map(({ aggregation }) => aggregation))) {
    const { plan } = aggregation;
    const hits = pending.filter((one) => one.aggregation === aggregation);
    const rendered = await plan.render(hits.map(({ rows, total }) => ({ rows, total })));
    hits.forEach(({ result }, index) => {
      result.hits = rendered[index];
    });
  }
}

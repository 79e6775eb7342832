/** The aggregations of a search. */
import { raw, type Sql } from "../../datasets/sql.ts";
import type { LogStore, QueryOptions } from "../../datasets/store/log-store.ts";
import { assemble, type PendingHits } from "./assemble.ts";
import { FilterColumns } from "./clauses.ts";
import type { AggregationContext } from "./context.ts";
import { readAggregations } from "./read.ts";
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
 * @param json the member `aggs` of a request
 * @throws VendorError when it is wrong
 */
export function planAggregations(json: unknown, context: AggregationContext): AggregationPlan {
  const filters = new FilterColumns(context.fields);
  const aggregations = readAggregations(json, {
    ...context,
    compileFilter: (query) => filters.columnOf(context.compileFilter(query)),
  });
  return {
    async run(store, predicate, { scope = everything, typedKeys = false, ...options } = {}) {
      const documents = { predicate, scope, filters };
      const { statement, root } = compileAggregations(aggregations, documents, context.fields);
      const answer = statement ? await store.query(statement, options) : { columns: [], rows: [] };
      const { results, hits } = assemble(aggregations, root, answer);
      await renderHits(hits);
      return { body: renderResults(results, typedKeys), statements: statement ? [statement.text] : [] };
    },
  };
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

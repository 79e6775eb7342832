/** Builds and runs the aggregations of a search. */
import { raw, type Sql } from "@offhook/log-store/sql";
import type { LogStore, QueryOptions } from "@offhook/log-store/store/log-store";
import { VendorError } from "../vendor/error.ts";
import { isShardFailure, shardFailure } from "../vendor/shard-failure.ts";
import type { Aggregations } from "./aggregation.ts";
import { assemble, type PendingHits } from "./assemble.ts";
import type { Create, Naming } from "./build.ts";
import { FilterColumns } from "./clauses.ts";
import type { AggregationContext } from "./context.ts";
import { Options } from "./options.ts";
import type { Definition, Level } from "./parse.ts";
import { orderPipelines } from "./pipeline/validate.ts";
import { renderResults } from "./result.ts";
import { compileAggregations } from "./statement.ts";

export interface RunOptions extends QueryOptions {
  /** Predicate over `documents AS d` for the searched documents, which a `global` aggregation covers. Default: all. */
  scope?: Sql;
  /** Prefixes result names with their types: `sterms#name`. */
  typedKeys?: boolean;
}

export interface AggregationsAnswer {
  /** The member `aggregations` of the answer. */
  body: ReadonlyMap<string, unknown>;
  /** The executed statements. */
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
 * @param aggregations as `parseAggregations` returns them
 * @throws VendorError naming the shard that cannot answer
 */
export function planAggregations(aggregations: Level, context: AggregationContext): AggregationPlan {
  const { fields, index } = context;
  const filters = new FilterColumns(fields);
  const built = onShard(index, () => buildLevel(aggregations, [], { ...context, filters })());
  return {
    async run(store, predicate, { scope = everything, typedKeys = false, ...options } = {}) {
      const documents = { predicate, scope, filters };
      const { statement, root } = compileAggregations(built, documents, fields);
      const answer = statement ? await store.query(statement, options) : { columns: [], rows: [] };
      const { results, hits } = assemble(built, root, answer);
      await renderHits(hits);
      return { body: renderResults(results, { typedKeys }), statements: statement ? [statement.text] : [] };
    },
  };
}

interface BuildContext extends AggregationContext {
  readonly filters: FilterColumns;
}

function buildLevel(level: Level, parents: readonly Naming[], context: BuildContext): Create<Aggregations> {
  const creators = level.aggregations.map((one) => build(one, parents, context));
  return () => ({
    aggregations: creators.map((create) => create()),
    pipelines: orderPipelines(level).map(({ pipeline }) => pipeline),
  });
}

function build(
  { naming, type, contents, children }: Definition,
  parents: readonly Naming[],
  context: BuildContext,
) {
  const filters = contents.filters.map(
    ([key, compile]) => [key, () => context.filters.columnOf(compile())] as const,
  );
  const building = {
    naming,
    options: new Options(naming.type, contents.options),
    contents: { ...contents, filters },
    parents,
    buildChildren: () => buildLevel(children, [naming, ...parents], context),
  };
  return type.build(building, context);
}

/** Runs the work of a shard, and reports its errors as that index's failure. @throws VendorError */
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

/** Renders the hits of each aggregation in one call for all its buckets. */
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

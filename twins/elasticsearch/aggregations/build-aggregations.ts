/** Builds and creates the aggregations of a request, as a shard does. */
import type { Aggregations } from "./aggregation.ts";
import type { Create, Naming } from "./build.ts";
import type { FilterColumns } from "./clauses.ts";
import type { AggregationContext } from "./context.ts";
import { Options } from "./options.ts";
import type { Definition, Level } from "./parse.ts";
import { orderPipelines } from "./pipeline/validate.ts";

export interface BuildContext extends AggregationContext {
  readonly filters: FilterColumns;
}

/** @throws VendorError */
export function buildAggregations(root: Level, context: BuildContext): Create<Aggregations> {
  return buildLevel(root, [], context);
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

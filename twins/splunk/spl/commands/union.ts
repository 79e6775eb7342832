/** `union`: adds the rows of several datasets. */
import { defineCommand } from "../command.ts";
import type { SearchContext } from "../context/search-context.ts";
import { limitSubsearch } from "../context/subsearch-limit.ts";
import { boundsOf, type SubsearchOptions, subsearchOptionTypes } from "../context/subsearch-options.ts";
import { noRows, type Relation } from "../relation/relation.ts";
import { relationOf } from "../relation/rows.ts";
import { concat, mergeByTime } from "../relation/union.ts";
import { type Dataset, datasetRelation, isStreaming, readDataset } from "../sources/dataset.ts";
import { coveringRange } from "../time/time-range.ts";

export const union = defineCommand({
  name: "union",
  kind: "events",
  parse(reader) {
    const options = reader.options(subsearchOptionTypes);
    const datasets: Dataset[] = [];
    for (let next = readDataset(reader); next !== undefined; next = readDataset(reader)) {
      datasets.push(next);
      reader.symbol(",");
    }
    if (datasets.length === 0) {
      reader.fail("Missing arguments. Expecting a list of datasets and subsearches.");
    }
    return { datasets, options };
  },
  async compile({ datasets, options }, input, context) {
    const relations = await Promise.all(
      datasets.map((dataset) => datasetRelation("union", dataset, context)),
    );
    const streaming = datasets.map((dataset, index) => isStreaming(dataset, relations[index] ?? noRows));
    const before = input === noRows ? [] : [input];
    if (!streaming.includes(false) && before.every(({ kind }) => kind === "events")) {
      return extendRange(mergeByTime(...before, ...relations), relations, options, context);
    }
    // Streaming datasets are not limited: their rows count as the search's own.
    const parts = await Promise.all(
      relations.map((relation, index) =>
        streaming[index] ? relation : limitRows(datasets[index], relation, options, context),
      ),
    );
    return extendRange(concat(...before, ...parts), relations, options, context);
  },
});

async function limitRows(
  dataset: Dataset | undefined,
  relation: Relation,
  options: SubsearchOptions,
  context: SearchContext,
): Promise<Relation> {
  const bounds = boundsOf(options, context.limits);
  if (dataset?.kind !== "subsearch" || !bounds.maxMs) {
    return limitSubsearch(relation, bounds.maxRows ?? context.limits.joinMaxRows, context);
  }
  return relationOf(await context.subsearch(dataset.subsearch.pipeline, bounds));
}

function extendRange(
  rows: Relation,
  parts: readonly Relation[],
  { extendtimerange }: SubsearchOptions,
  context: SearchContext,
): Relation {
  if (!extendtimerange) return rows;
  const ranges = [rows, ...parts].map((part) => part.range ?? context.range);
  return { ...rows, range: ranges.reduce(coveringRange) };
}

/** `union`: the rows of several datasets, after those there are. */
import { defineCommand } from "../command.ts";
import { type Dataset, datasetRelation, readDataset, streams } from "../dataset.ts";
import { concatenated, interleaved, noRows } from "../relation.ts";
import { withinLimit } from "../subsearch-limit.ts";
import { boolean, count } from "../syntax/option-types.ts";

export const union = defineCommand({
  name: "union",
  kind: "events",
  parse(reader) {
    // Subsearches have the time and the range of the search that they are part of.
    const { maxout } = reader.options({
      extendtimerange: boolean,
      maxtime: count,
      maxout: count,
      timeout: count,
    });
    const datasets: Dataset[] = [];
    for (let next = readDataset(reader); next !== undefined; next = readDataset(reader)) {
      datasets.push(next);
      reader.symbol(",");
    }
    if (datasets.length === 0) reader.fail("At least one dataset must be specified.");
    return { datasets, maxout };
  },
  async compile({ datasets, maxout }, input, context) {
    const relations = await Promise.all(
      datasets.map((dataset) => datasetRelation("union", dataset, context)),
    );
    const streaming = datasets.map((dataset, index) => streams(dataset, relations[index] ?? noRows));
    const before = input === noRows ? [] : [input];
    if (!streaming.includes(false) && before.every(({ kind }) => kind === "events")) {
      return interleaved(...before, ...relations);
    }
    const max = maxout ?? context.limits.joinMaxRows;
    const parts = await Promise.all(
      relations.map((relation, index) => (streaming[index] ? relation : withinLimit(relation, max, context))),
    );
    return concatenated(...before, ...parts);
  },
});

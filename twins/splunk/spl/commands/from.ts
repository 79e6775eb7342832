/** `from`: the rows of a data model, a saved search or a lookup table. */
import { defineCommand } from "../command.ts";
import { datasetRelation, readNamedDataset } from "../sources/dataset.ts";

export const from = defineCommand({
  name: "from",
  kind: "generating",
  parse: (reader) => ({ dataset: readNamedDataset(reader) }),
  compile: ({ dataset }, _input, context) => datasetRelation("from", dataset, context),
});

/** `appendpipe`: adds the result of a pipeline over the rows at the end. */
import { defineCommand } from "../command.ts";
import { compilePipeline } from "../compile-pipeline.ts";
import { readSubsearch } from "../context/subsearch-options.ts";
import { concat } from "../relation/union.ts";
import { boolean } from "../syntax/option-types.ts";

export const appendpipe = defineCommand({
  name: "appendpipe",
  kind: "report",
  parse(reader) {
    reader.options({ run_in_preview: boolean });
    return { subsearch: readSubsearch(reader) };
  },
  async compile({ subsearch }, input, context) {
    return concat(input, await compilePipeline(subsearch.pipeline, context, input));
  },
});

/** `multisearch`: merges the events of several searches, newest first. */
import { defineCommand } from "../command.ts";
import { mergeByTime } from "../relation/union.ts";
import type { Subsearch } from "../syntax/ast.ts";

export const multisearch = defineCommand({
  name: "multisearch",
  kind: "generating",
  parse(reader) {
    const subsearches: Subsearch[] = [];
    for (let next = reader.subsearch(); next !== undefined; next = reader.subsearch()) {
      subsearches.push(next);
      reader.symbol(",");
    }
    if (subsearches.length < 2) reader.fail("At least two searches must be specified.");
    const other = subsearches.findIndex(({ pipeline }) => !pipeline.commands.every(isStreaming));
    if (other !== -1) {
      reader.fail(
        `Multisearch subsearches might only contain purely streaming operations (subsearch ${other + 1} contains a non-streaming command).`,
      );
    }
    return { subsearches };
  },
  async compile({ subsearches }, _input, context) {
    const parts = await Promise.all(subsearches.map(({ pipeline }) => context.subrelation(pipeline)));
    return mergeByTime(...parts);
  },
});

function isStreaming({ kind, name }: { kind: string; name: string }, index: number): boolean {
  return kind === "streaming" || (index === 0 && name === "from");
}

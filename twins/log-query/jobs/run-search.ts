/** The steps of a search between its text and its rows. */
import { compilePipeline } from "../spl/compile-pipeline.ts";
import { displayed } from "../spl/eval/displayed.ts";
import { noRows, type Relation } from "../spl/relation.ts";
import type { SearchContext } from "../spl/search-context.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";

export interface CompiledSearch {
  /** What the whole search answers. */
  readonly result: Relation;
  /** The events that a transforming command made a report of, or that are the result; absent when it began with none. */
  readonly events: Relation | undefined;
  /** The events that the first command found. */
  readonly scanned: Relation | undefined;
}

/** @param before called before each command, which waits for it */
export async function compileSearch(
  pipeline: Pipeline,
  context: SearchContext,
  before: () => Promise<void>,
): Promise<CompiledSearch> {
  let events: Relation | undefined;
  let scanned: Relation | undefined;
  const after = (relation: Relation) => {
    if (relation.kind !== "events") return;
    scanned ??= relation;
    events = relation;
  };
  const result = await compilePipeline(pipeline, context, noRows, { before, after });
  return { result: await displayed(result, context), events, scanned };
}

/** How many of the commands work on events, before one makes a report of them: `/events` shows what these leave. */
export function eventCommands({ commands }: Pick<Pipeline, "commands">): number {
  if (commands[0]?.name !== "search") return 0;
  const report = commands.findIndex(({ kind, name }) => kind === "report" && name !== "head");
  return report < 0 ? commands.length : report;
}

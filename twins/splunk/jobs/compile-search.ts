/** The steps of a search between its text and its rows. */
import { compilePipeline } from "../spl/compile-pipeline.ts";
import type { SearchContext } from "../spl/context/search-context.ts";
import { applyFormats } from "../spl/eval/field-format.ts";
import { noRows, type Relation } from "../spl/relation/relation.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";

export interface CompiledSearch {
  /** What the whole search answers. */
  readonly result: Relation;
  /** The events that a transforming command made a report of, or that are the result; absent when it began with none. */
  readonly events: Relation | undefined;
  /** The events that the first command found. */
  readonly scanned: Relation | undefined;
}

export interface SearchWatch {
  /** Called before each command, which waits for it. */
  before(): Promise<void>;
  /** The events that the search goes on with, of those that its first command has found. */
  narrow(found: Relation): Relation;
}

export async function compileSearch(
  pipeline: Pipeline,
  context: SearchContext,
  { before, narrow }: SearchWatch,
): Promise<CompiledSearch> {
  let events: Relation | undefined;
  let scanned: Relation | undefined;
  const after = (relation: Relation) => {
    if (relation.kind !== "events") return;
    scanned ??= relation;
    events = relation;
  };
  const [first, ...rest] = pipeline.commands;
  const found = await compilePipeline({ commands: first ? [first] : [] }, context, noRows, {
    before,
    after() {},
  });
  const given = found.kind === "events" ? narrow(found) : found;
  after(given);
  const result = await compilePipeline({ commands: rest }, context, given, { before, after });
  return { result: await applyFormats(result), events, scanned };
}

/** How many of the commands work on events, before one makes a report of them: `/events` shows what these leave. */
export function eventCommands({ commands }: Pick<Pipeline, "commands">): number {
  if (commands[0]?.name !== "search") return 0;
  const report = commands.findIndex(({ kind, name }) => kind === "report" && name !== "head");
  return report < 0 ? commands.length : report;
}

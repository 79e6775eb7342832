/** Compiles a search, and keeps apart its result, its events and what its first command found. */
import { raw } from "@offhook/log-store/sql";
import { SERVER_NAME } from "../product.ts";
import { compilePipeline } from "../spl/compile-pipeline.ts";
import type { SearchContext } from "../spl/context/search-context.ts";
import { applyFormats } from "../spl/eval/field-format.ts";
import { limit } from "../spl/relation/order.ts";
import { filter, noRows, type Relation } from "../spl/relation/relation.ts";
import { wildcardMatch } from "../spl/relation/wildcards.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import type { JobOptions } from "./job-options.ts";

export interface CompiledSearch {
  /** Result of the whole search. */
  readonly result: Relation;
  /** The events before the first transforming command, or the result; absent when the search starts without events. */
  readonly events: Relation | undefined;
  /** The events that the first command found. */
  readonly scanned: Relation | undefined;
}

export interface CompileHooks {
  /** Awaited before each command. */
  before(): Promise<void>;
  /** Limits the events that the first command found. */
  narrow(found: Relation): Relation;
}

export async function compileSearch(
  pipeline: Pipeline,
  context: SearchContext,
  { before, narrow }: CompileHooks,
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

/** Limits found events to those of the asked servers (all or none: there is one) and to `auto_finalize_ec` events. */
export function narrowEvents(found: Relation, { servers, finalizeAfter }: JobOptions): Relation {
  const isAsked = servers.some(
    (pattern) => pattern === "local" || wildcardMatch(pattern, SERVER_NAME) !== undefined,
  );
  if (servers.length > 0 && !isAsked) return filter(found, raw("FALSE"));
  return finalizeAfter === 0 ? found : limit(found, finalizeAfter);
}

/** Number of commands before the first transforming one: `/events` shows the events that these leave. */
export function eventCommands({ commands }: Pick<Pipeline, "commands">): number {
  if (commands[0]?.name !== "search") return 0;
  const report = commands.findIndex(({ kind, name }) => kind === "report" && name !== "head");
  return report < 0 ? commands.length : report;
}

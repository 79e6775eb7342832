/** What every part of a search shares: the twin, the store, the request and where it looks. */

import type { LogStore } from "@offhook/log-store/store/log-store";
import type { Translator } from "@offhook/log-store/translator/translator";
import type { Logger } from "pino";
import { type ExpressionOptions, type Selection, select } from "../indices/expression.ts";
import { aliasTargets, type IndexRegistry, knownIndices } from "../indices/index-registry.ts";
import { visibleFields } from "../indices/own-indices.ts";
import type { QueryContext } from "../query/compiled-query.ts";
import type { TermStatisticsCache } from "../query/term-statistics.ts";
import type { SearchNotes } from "./search-notes.ts";

/** Where a search looks. */
export interface SearchScope {
  selection: Selection;
  /** Events written after this row are not seen: a snapshot. */
  upToRow?: bigint;
}

/** What a search uses of the twin it runs in. */
export interface SearchEngine extends IndexRegistry {
  /** Absent: what the compilers do not recognise is refused. */
  readonly translator: Translator | undefined;
  readonly termStatistics: TermStatisticsCache;
  readonly log: Logger;
}

/** What a search takes of its request beside the search itself. */
export interface SearchCaller {
  notes: SearchNotes;
  /** Aborted when the answer is no longer wanted. */
  signal: AbortSignal;
  /** The text of the body, for the line and column of mistakes; `undefined` where the body is no single search. */
  text: string | undefined;
}

export interface SearchContext extends SearchCaller {
  engine: SearchEngine;
  store: LogStore;
  query: QueryContext;
}

export async function openSearch(engine: SearchEngine, caller: SearchCaller): Promise<SearchContext> {
  const store = await engine.store();
  const { fidelity, clock, index } = engine;
  const query = { fields: store.fields, fidelity, nowMs: clock.now(), index };
  return { ...caller, engine, store, query };
}

/** The indices of an expression. @throws VendorError 404 */
export async function scopeOf(
  expression: string | undefined,
  options: ExpressionOptions,
  registry: IndexRegistry,
  purpose: "read" | "write" = "read",
): Promise<SearchScope> {
  const context = {
    known: await knownIndices(registry),
    aliases: await aliasTargets(registry),
    fidelity: registry.fidelity,
    nowMs: registry.clock.now(),
    purpose,
  };
  return { selection: select(expression === "" ? undefined : expression, options, context) };
}

/** Narrows a search to the fields of certain indices; errors name the first of these. */
export function narrow(context: SearchContext, { selection }: SearchScope): SearchContext {
  const index = selection.names[0] ?? context.engine.index;
  const visible = visibleFields(context.query.fields, selection);
  return { ...context, query: { ...context.query, ...visible, index } };
}

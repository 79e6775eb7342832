/** What every part of a search shares: the twin, the store, the request and where it looks. */

import type { LogStore } from "@offhook/log-store/store/log-store";
import type { Translator } from "@offhook/log-store/translator/translator";
import type { Logger } from "pino";
import { type ExpressionOptions, type Selection, select } from "../indices/expression.ts";
import { aliasTargets, type IndexRegistry, knownIndices } from "../indices/index-registry.ts";
import type { QueryContext } from "../query/compiled-query.ts";
import type { TermStatisticsCache } from "../query/term-statistics.ts";
import type { SearchNotes } from "./search-notes.ts";

/** The indices that a search covers, and how far. */
export interface SearchScope {
  selection: Selection;
  /** A snapshot: events written after this row are invisible. */
  upToRow?: bigint;
}

/** The parts of a twin that a search uses. */
export interface SearchEngine extends IndexRegistry {
  /** Absent: unrecognised requests are refused. */
  readonly translator: Translator | undefined;
  readonly termStatistics: TermStatisticsCache;
  readonly log: Logger;
}

/** The parts of a request that a search uses beside its body. */
export interface SearchCaller {
  notes: SearchNotes;
  /** Aborted when the answer is no longer wanted. */
  signal: AbortSignal;
  /** The text of the body, to locate mistakes in it; `undefined` where the body holds more than one search. */
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

/** Resolves an index expression. @throws VendorError 404 */
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
  const visible = context.engine.fieldViews.of(context.query.fields, selection);
  return { ...context, query: { ...context.query, ...visible, index } };
}

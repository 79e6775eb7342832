/**
 * What a store is asked before a query is compiled: in how many documents a word is, how long they are. With these known, a score is
 * reckoned from numbers, and what is rare is looked up by its words. They stay known until something is written.
 */
import type { Sql } from "@offhook/log-store/sql";
import type { LogStore } from "@offhook/log-store/store/log-store";
import type { CompiledQuery, Figures } from "./compiled-query.ts";

/** How many are kept of one state of a store. */
const MOST_KEPT = 10_000;
/** More are not asked for one query: its words are then counted as they are found. */
const MOST_ASKED = 12;
/** What is asked may depend on what was answered before: whether a value is rare, then how many documents have it. */
const MOST_PASSES = 3;

interface KnownFigures {
  readonly stateVersion: number;
  readonly figures: Map<string, readonly number[]>;
}

const known = new WeakMap<LogStore, KnownFigures>();

export interface FigureOptions {
  /** Whether the query's scores are used. */
  scores: boolean;
  /** Asks the store; the answer is one row of numbers. */
  ask(statement: Sql): Promise<readonly number[]>;
}

/** Compiles a query with the figures that it is better for. @param compile once for each pass */
export async function compileKnowing(
  store: LogStore,
  compile: (figures: Figures) => CompiledQuery,
  { scores, ask }: FigureOptions,
): Promise<CompiledQuery> {
  for (let pass = 1; ; pass++) {
    const { figures } = figuresOf(store);
    const wanted = new Map<string, Sql>();
    const isLast = () => wanted.size === 0 || wanted.size > MOST_ASKED || pass > MOST_PASSES;
    try {
      const compiled = compile((statement) => {
        const key = keyOf(statement);
        const found = figures.get(key);
        if (!found) wanted.set(key, statement);
        return found;
      });
      // A score asks for its figures when it is looked at.
      if (scores && compiled.constantScore === undefined) void compiled.scored;
      if (isLast()) return compiled;
    } catch (error) {
      // What is wrong may be within what no document meets.
      if (isLast()) throw error;
    }
    await Promise.all(
      [...wanted].map(async ([key, statement]) => {
        figures.set(key, await ask(statement));
      }),
    );
  }
}

function figuresOf(store: LogStore): KnownFigures {
  const { stateVersion } = store;
  const before = known.get(store);
  if (before?.stateVersion === stateVersion && before.figures.size < MOST_KEPT) return before;
  const begun = { stateVersion, figures: new Map() };
  known.set(store, begun);
  return begun;
}

function keyOf({ text, values }: Sql): string {
  return JSON.stringify([text, values.map(String)]);
}

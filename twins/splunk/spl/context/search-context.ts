/** What a search is compiled and run in. */
import type { Sql } from "@offhook/log-store/sql";
import type { LogReader, ResultCursor } from "@offhook/log-store/store/log-store";
import type { Relation } from "../relation/relation.ts";
import type { Rows } from "../relation/rows.ts";
import type { SearchMessage } from "../spl-error.ts";
import type { Pipeline } from "../syntax/ast.ts";
import type { TimeRange } from "../time/time-range.ts";
import type { EventAccess } from "./event-access.ts";
import type { Knowledge } from "./knowledge.ts";

/** The limits of `limits.conf` that searches meet. */
export interface SearchLimits {
  /** Rows that a search keeps as its result: 50,000. */
  readonly maxResultRows: number;
  /** Rows and milliseconds of a subsearch: 10,000 and 60,000. */
  readonly subsearchMaxRows: number;
  readonly subsearchMaxMs: number;
  /** Rows of `join`'s and `append`'s subsearch: 50,000. */
  readonly joinMaxRows: number;
}

export const defaultLimits: SearchLimits = {
  maxResultRows: 50_000,
  subsearchMaxRows: 10_000,
  subsearchMaxMs: 60_000,
  joinMaxRows: 50_000,
};

/** How long a subsearch may be, and how much it may give. What is absent, or 0, is as `limits` say. */
export interface SubsearchBounds {
  readonly maxRows?: number;
  readonly maxMs?: number;
}

/** What a subsearch has found. */
export interface SubsearchRows extends Rows {
  /** Its own time range, when it has said one. */
  readonly range?: TimeRange;
}

export interface SearchContext {
  readonly store: LogReader;
  readonly knowledge: Knowledge;
  /** Start of the search by the sandbox's clock: `now()`. */
  readonly nowMs: number;
  /** IANA name: what days and hours are. */
  readonly timeZone: string;
  /** Of the request. A search's own `earliest=` goes before it (`search/events.ts`). */
  readonly range: TimeRange;
  readonly limits: SearchLimits;
  /** Sid of the job, user and app, for `addinfo` and the like. */
  readonly sid: string;
  readonly user: string;
  readonly app: string;
  /** Which events they find at all; `undefined`: any. */
  readonly access: EventAccess | undefined;
  /** What the search's owner should know: each text once. */
  warn(message: SearchMessage): void;
  /** For work that is done between two statements. @throws QueryInterrupted when the search is ended, or its time is up */
  throwIfOver(): void;
  /** Runs what has been compiled. @param maxRows more are cut off. @throws QueryInterrupted, OutOfMemory */
  run(relation: Relation, maxRows: number): Promise<Rows>;
  /** Keeps the rows of a SELECT, in its order. Whoever asked drops them. @throws QueryInterrupted, OutOfMemory */
  hold(select: Sql): Promise<ResultCursor>;
  /** As `run`, of what reads rows that are held. */
  runHeld(held: ResultCursor, relation: Relation, maxRows: number): Promise<Rows>;
  /**
   * Runs a subsearch in the request's range and its own limits; says so when it was cut. One whose time is over is finalized: a
   * statement gives its rows at its end, so that there are none.
   */
  subsearch(pipeline: Pipeline, bounds?: SubsearchBounds): Promise<SubsearchRows>;
  /** Compiles a subsearch in the request's range, for a command that takes its rows in SQL. */
  subrelation(pipeline: Pipeline): Promise<Relation>;
  /** Reads a search that stands in a saved search, a macro, `map`; macros expanded. */
  parse(search: string): Pipeline;
  /** The saved searches that are being read, the outermost first: none of them may take part in itself. */
  readonly savedSearches: readonly string[];
  /** The same search with another range: `savedsearch`, `map`, a search's own `earliest=`. @param savedSearch whose commands run in it */
  within(range: TimeRange, savedSearch?: string): SearchContext;
}

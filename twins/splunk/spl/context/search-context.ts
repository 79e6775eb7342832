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

/** Limits of searches, as `limits.conf` sets them. */
export interface SearchLimits {
  /** Rows of a search's result: 50,000. */
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

/** Bounds of one subsearch. Absent or 0: those of `SearchLimits`. */
export interface SubsearchBounds {
  readonly maxRows?: number;
  readonly maxMs?: number;
}

/** Rows of a subsearch. */
interface SubsearchRows extends Rows {
  /** The subsearch's own time range, if its text sets one. */
  readonly range?: TimeRange;
}

export interface SearchContext {
  readonly store: LogReader;
  readonly knowledge: Knowledge;
  /** Start of the search by the sandbox's clock; the value of `now()`. */
  readonly nowMs: number;
  /** IANA name. */
  readonly timeZone: string;
  /** The range of the request. A search's own `earliest=` overrides it (`search/events.ts`). */
  readonly range: TimeRange;
  readonly limits: SearchLimits;
  /** Of the job: for `addinfo` and the like. */
  readonly sid: string;
  readonly user: string;
  readonly app: string;
  /** Which events the user may see; `undefined`: all. */
  readonly access: EventAccess | undefined;
  /** Adds a message to the search. Repeated texts are dropped. */
  warn(message: SearchMessage): void;
  /** Call it in long work between two statements. @throws QueryInterrupted when the search was cancelled or is out of time */
  throwIfOver(): void;
  /** Runs a relation. @param maxRows further rows are dropped @throws QueryInterrupted, OutOfMemory */
  run(relation: Relation, maxRows: number): Promise<Rows>;
  /** Opens a cursor over the rows of a SELECT, in its order. The caller drops it. @throws QueryInterrupted, OutOfMemory */
  openCursor(select: Sql): Promise<ResultCursor>;
  /** Like `run`, for a relation that reads the rows of a cursor. */
  runOn(cursor: ResultCursor, relation: Relation, maxRows: number): Promise<Rows>;
  /**
   * Runs a subsearch in the request's range, with limits of its own, and warns when it exceeds them. A subsearch that runs out of
   * time has no rows: a statement gives its rows only at its end.
   */
  subsearch(pipeline: Pipeline, bounds?: SubsearchBounds): Promise<SubsearchRows>;
  /** Compiles a subsearch in the request's range, for a command that uses its rows in SQL. */
  subrelation(pipeline: Pipeline): Promise<Relation>;
  /** Parses the text of a saved search, of `map` or the like, and expands its macros. @throws SplError */
  parse(search: string): Pipeline;
  /** Saved searches around this one, outermost first, to detect recursion. */
  readonly savedSearches: readonly string[];
  /** The same context with another range: for `savedsearch`, `map`, a search's own `earliest=`. @param savedSearch pushed onto `savedSearches` */
  within(range: TimeRange, savedSearch?: string): SearchContext;
}

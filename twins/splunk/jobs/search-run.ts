/** Compiles and runs a search that has its slot, and ends it early on request or at a limit. */
import { performance } from "node:perf_hooks";
import { type LogStore, QueryInterrupted } from "@offhook/log-store/store/log-store";
import type { Logger } from "pino";
import type { EventAccess } from "../spl/context/event-access.ts";
import { defaultLimits, type SearchContext } from "../spl/context/search-context.ts";
import { createSearchContext } from "../spl/create-context.ts";
import { parseSearch } from "../spl/parse-search.ts";
import { limit } from "../spl/relation/order.ts";
import type { Relation } from "../spl/relation/relation.ts";
import { emptyRows, type Rows } from "../spl/relation/rows.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import type { NamespacedKnowledge } from "../world/knowledge.ts";
import { type CompiledSearch, compileSearch, eventCommands, narrowEvents } from "./compile-search.ts";
import { addEventAddresses } from "./event-address.ts";
import { eventStatistics } from "./event-statistics.ts";
import type { JobNotes } from "./job-notes.ts";
import type { JobOptions } from "./job-options.ts";
import type { JobRequest } from "./job-request.ts";
import { slicePart, sliceRows } from "./result-slices.ts";
import type { RowStream } from "./row-stream.ts";
import { applySearchLevel } from "./search-level.ts";

/** Longest run of a search without `max_time`. */
export const MAX_RUN_MS = 600_000;
/** Rows that a search shows when it ends early, and the time for finding them. */
const PARTIAL_ROWS = 1_000;
const PARTIAL_ROWS_MS = 5_000;

export interface RunParts {
  readonly knowledge: NamespacedKnowledge;
  store(): Promise<LogStore>;
  readonly timeZone: string;
  readonly log: Logger;
  /** The events that an account may find; absent: all. */
  access?(owner: string): EventAccess;
}

/** The search to run. */
export interface JobSearch {
  readonly sid: string;
  readonly request: JobRequest;
  readonly pipeline: Pipeline;
  readonly createdMs: number;
  readonly notes: JobNotes;
  readonly options: JobOptions;
}

export interface RunHooks {
  /** Awaited before the run enters a state. */
  enter(state: "PARSING" | "RUNNING"): Promise<void>;
  /** Awaited before each step. */
  before(): Promise<void>;
}

export class SearchRun {
  /** Seconds that the parts of the run took, by their names in `performance`. */
  readonly durations = new Map<string, number>();
  readonly #parts: RunParts;
  readonly #search: JobSearch;
  readonly #ending = new AbortController();
  #finalized = false;
  #context: SearchContext | undefined;
  #compiled: CompiledSearch | undefined;
  /** Progress of the running statement, from 0 to 1. */
  #share = 0;
  /** Number of prepared commands. */
  #prepared = 0;
  /** Number of commands whose preparation has begun. */
  #commands = 0;
  /** The progress last reported, which never falls. */
  #reported = 0;
  /** Start of the run on the process's clock; absent while the search waits for its slot. */
  #startedAt: number | undefined;

  constructor(parts: RunParts, search: JobSearch) {
    this.#parts = parts;
    this.#search = search;
  }

  /** Aborts when the search is finalized or cancelled. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Whether the search ends, or has ended, early with the rows it had. */
  get finalized(): boolean {
    return this.#finalized;
  }

  /** Absent until the search is compiled. */
  get compiled(): CompiledSearch | undefined {
    return this.#compiled;
  }

  /** Progress, from 0 to below 1; it never falls. */
  get progress(): number {
    this.#reported = Math.max(this.#reported, this.#done);
    return Math.min(0.99, Math.round(this.#reported * 100_000) / 100_000);
  }

  /** An event search goes by its statement's progress; one that generates rows by its prepared commands. */
  get #done(): number {
    const { pipeline } = this.#search;
    if (eventCommands(pipeline) > 0) return this.#share;
    return (this.#prepared + this.#share) / (pipeline.commands.length + 1);
  }

  /** Seconds since the run started, to the millisecond. */
  get elapsedS(): number {
    return this.#startedAt === undefined ? 0 : Math.round(performance.now() - this.#startedAt) / 1000;
  }

  /** Ends the search with the rows it has. */
  finalize(): void {
    this.#finalized = true;
    this.#ending.abort();
  }

  /** Ends the search without rows. */
  cancel(): void {
    this.#ending.abort();
  }

  /** Runs the search; a repeated call runs it again. @throws what ended the search, except its own time limit */
  async rows(watch: RunHooks): Promise<Rows> {
    await watch.enter("PARSING");
    const startedAt = performance.now();
    this.#startedAt = startedAt;
    const store = await this.#parts.store();
    const context = this.#createContext(store, this.signal, this.#leftMs, this.#reportShare);
    this.#context = context;
    await watch.enter("RUNNING");
    const { notes, pipeline, request } = this.#search;
    notes.note("dispatchRunner", `search: ${pipeline.text}`);
    try {
      const step = async () => {
        await watch.before();
        this.signal.throwIfAborted();
      };
      const { result } = await this.#compile(context, async () => {
        await step();
        this.#beginCommand();
      });
      this.#prepared = pipeline.commands.length;
      this.#recordDuration("dispatch.evaluate", startedAt);
      const fetchedAt = performance.now();
      const { stream } = request;
      const rows = await (stream
        ? this.#streamRows(result, stream, store, step)
        : context.run(result, request.maxCount));
      this.#recordDuration("dispatch.fetch", fetchedAt);
      await step();
      await this.#checkEventLimit(store);
      return rows;
    } catch (error) {
      if (!this.#isTimeUp(error)) throw error;
      const limit = request.maxTimeS;
      notes.say({
        type: "INFO",
        text: `The search auto-finalized after it reached its time limit: ${limit} seconds.`,
      });
      this.#finalized = true;
      return await this.partialRows();
    } finally {
      this.#recordDuration("command.total", startedAt);
    }
  }

  /** Streams all rows slice by slice; back-pressure: each slice waits until the one before is taken. */
  async #streamRows(
    result: Relation,
    stream: RowStream,
    store: LogStore,
    step: () => Promise<void>,
  ): Promise<Rows> {
    const newContext = () => this.#createContext(store, this.signal, this.#leftMs, this.#reportShare);
    for await (const slice of sliceRows(stream.selectFields(result), stream.range, newContext)) {
      await step();
      await stream.write(slice, this.signal);
    }
    return emptyRows;
  }

  /** Rows that can be found quickly, after the owner or the time limit ended the search. */
  async partialRows(): Promise<Rows> {
    const result = this.#compiled?.result;
    const { stream } = this.#search.request;
    if (result?.kind !== "events" || stream?.hasStarted) return emptyRows;
    try {
      this.#context = await this.openContext(AbortSignal.timeout(PARTIAL_ROWS_MS), PARTIAL_ROWS_MS);
      const shown = stream?.selectFields(result) ?? result;
      const rows = await this.#context.run(limit(shown, PARTIAL_ROWS), PARTIAL_ROWS);
      if (stream === undefined) return rows;
      await stream.write(slicePart(rows, stream.range));
      return emptyRows;
    } catch (error) {
      this.#parts.log.warn({ err: error, sid: this.#search.sid }, "a search that ended early shows no rows");
      this.#search.notes.note("dispatchRunner", "no rows were found in time", "WARN");
      return emptyRows;
    }
  }

  /** The first events found by the running search. */
  async firstEvents(maxRows: number): Promise<Rows> {
    const result = this.#compiled?.result;
    if (result?.kind !== "events" || this.#context === undefined) return emptyRows;
    return this.#context.run(limit(result, maxRows), maxRows);
  }

  /** A context for statements beside the search, which do not count as its progress. Ends with `signal`. */
  async openContext(signal: AbortSignal, deadlineMs: number): Promise<SearchContext> {
    return this.#createContext(await this.#parts.store(), signal, deadlineMs);
  }

  async #compile(context: SearchContext, before: () => Promise<void>): Promise<CompiledSearch> {
    const { pipeline, options } = this.#search;
    const compiled = await compileSearch(pipeline, context, {
      before,
      narrow: (found) => narrowEvents(found, options),
    });
    const shown = applySearchLevel(compiled.result, compiled.scanned, pipeline, options);
    this.#compiled = { ...compiled, result: addEventAddresses(shown, pipeline) };
    return this.#compiled;
  }

  /** Marks the search as finalized, with a warning, when it reached its event limit. */
  async #checkEventLimit(store: LogStore): Promise<void> {
    const { options, notes } = this.#search;
    const { finalizeAfter } = options;
    const scanned = this.#compiled?.scanned;
    if (finalizeAfter === 0 || scanned === undefined) return;
    const { count } = await eventStatistics(store, scanned, { signal: this.signal });
    if (count < finalizeAfter) return;
    this.#finalized = true;
    const text = `Search auto-finalized after event count limit (${finalizeAfter} events) reached.`;
    notes.say({ type: "WARN", text });
  }

  /** @param progress receives the share that a statement has done */
  #createContext(
    store: LogStore,
    signal: AbortSignal,
    deadlineMs: number,
    progress?: (share: number) => void,
  ): SearchContext {
    const { timeZone, access } = this.#parts;
    const { request, sid, createdMs, notes } = this.#search;
    const knowledge = this.#parts.knowledge.within(request);
    return createSearchContext({
      store,
      knowledge,
      nowMs: request.nowMs ?? createdMs,
      timeZone,
      range: request.range,
      limits: { ...defaultLimits, maxResultRows: request.maxCount },
      sid,
      user: request.owner,
      app: request.app,
      ...(access === undefined ? {} : { access: access(request.owner) }),
      signal,
      deadlineMs,
      parse: (text) => parseSearch(text, knowledge),
      warn: (message) => notes.say(message),
      ...(progress === undefined ? {} : { progress }),
      ran: (statement) => notes.note("SearchOperator", statement),
    });
  }

  #beginCommand(): void {
    if (this.#commands > 0) {
      this.#prepared = this.#commands;
      if (eventCommands(this.#search.pipeline) === 0) this.#share = 0;
    }
    this.#commands++;
  }

  /** Time left for the next statement. */
  get #leftMs(): number {
    const { maxTimeS } = this.#search.request;
    return maxTimeS > 0 ? (maxTimeS - this.elapsedS) * 1000 : MAX_RUN_MS;
  }

  readonly #reportShare = (share: number) => {
    this.#share = Math.max(this.#share, share);
  };

  /** Whether `max_time` ended the search. */
  #isTimeUp(error: unknown): boolean {
    const { maxTimeS } = this.#search.request;
    return maxTimeS > 0 && error instanceof QueryInterrupted && error.reason === "deadline";
  }

  #recordDuration(what: string, sinceAt: number): void {
    this.durations.set(what, (performance.now() - sinceAt) / 1000);
  }
}

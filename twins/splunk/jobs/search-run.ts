/** A search's work from its turn to its rows: it is compiled and run, and ended early when its owner or a limit wants that. */
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
import { type CompiledSearch, compileSearch, eventCommands } from "./compile-search.ts";
import { withAddresses } from "./event-address.ts";
import { eventFigures } from "./event-figures.ts";
import type { JobNotes } from "./job-notes.ts";
import type { JobOptions } from "./job-options.ts";
import type { JobRequest } from "./job-request.ts";
import { narrowed } from "./narrowed.ts";
import { partOf, slicesOf } from "./result-slices.ts";
import type { RowOutlet } from "./row-outlet.ts";
import { withLevel } from "./search-level.ts";

/** The longest that a search may take when it sets no limit of its own. */
export const LONGEST_MS = 600_000;
/** Rows that a search which is ended early still shows, and how long finding them may take. */
const EARLY_ROWS = 1_000;
const EARLY_MS = 5_000;

export interface RunParts {
  readonly knowledge: NamespacedKnowledge;
  store(): Promise<LogStore>;
  readonly timeZone: string;
  readonly log: Logger;
  /** Which events somebody finds at all; absent: any. */
  access?(owner: string): EventAccess;
}

/** What is run. */
export interface JobSearch {
  readonly sid: string;
  readonly request: JobRequest;
  readonly pipeline: Pipeline;
  readonly createdMs: number;
  readonly notes: JobNotes;
  readonly options: JobOptions;
}

export interface RunWatch {
  /** The run waits for it before it enters the state. */
  enter(state: "PARSING" | "RUNNING"): Promise<void>;
  /** Called before each step, which waits for it. */
  before(): Promise<void>;
}

export class SearchRun {
  /** Seconds that parts of it took, by the names that `performance` has for them. */
  readonly durations = new Map<string, number>();
  readonly #parts: RunParts;
  readonly #search: JobSearch;
  readonly #ending = new AbortController();
  #finalized = false;
  #context: SearchContext | undefined;
  #compiled: CompiledSearch | undefined;
  /** Of the statement that runs. */
  #share = 0;
  /** Commands that are prepared. */
  #prepared = 0;
  /** Commands that have been begun. */
  #commands = 0;
  #shown = 0;
  /** When it had its turn, by the process's own clock; absent while it waits. */
  #startedAt: number | undefined;

  constructor(parts: RunParts, search: JobSearch) {
    this.#parts = parts;
    this.#search = search;
  }

  /** Aborts when it is to end before its time. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Whether it ends, or has ended, with the rows that it had by then. */
  get finalized(): boolean {
    return this.#finalized;
  }

  /** What gives the rows; absent until the search is compiled. */
  get compiled(): CompiledSearch | undefined {
    return this.#compiled;
  }

  /** How much of it is done, from 0 to less than 1: never less than it was. */
  get progress(): number {
    this.#shown = Math.max(this.#shown, this.#done);
    return Math.min(0.99, Math.round(this.#shown * 100_000) / 100_000);
  }

  /** Of events by the share that the statement has looked at; of rows that are made by the commands that are prepared. */
  get #done(): number {
    const { pipeline } = this.#search;
    if (eventCommands(pipeline) > 0) return this.#share;
    return (this.#prepared + this.#share) / (pipeline.commands.length + 1);
  }

  /** Seconds since it had its turn, to the millisecond. */
  get elapsedS(): number {
    return this.#startedAt === undefined ? 0 : Math.round(performance.now() - this.#startedAt) / 1000;
  }

  /** Ends it with the rows it has. */
  finalize(): void {
    this.#finalized = true;
    this.#ending.abort();
  }

  /** Ends it for good. */
  cancel(): void {
    this.#ending.abort();
  }

  /** Runs it, again if need be. @throws what ended it, unless that was its own time limit */
  async rows(watch: RunWatch): Promise<Rows> {
    await watch.enter("PARSING");
    const startedAt = performance.now();
    this.#startedAt = startedAt;
    const store = await this.#parts.store();
    const context = this.#createContext(store, this.signal, this.#leftMs, this.#hasDone);
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
        this.#startedCommand();
      });
      this.#prepared = pipeline.commands.length;
      this.#took("dispatch.evaluate", startedAt);
      const fetchedAt = performance.now();
      const { outlet } = request;
      const rows = await (outlet
        ? this.#send(result, outlet, store, step)
        : context.run(result, request.maxCount));
      this.#took("dispatch.fetch", fetchedAt);
      await step();
      await this.#checkEvents(store);
      return rows;
    } catch (error) {
      if (!this.#isTimeUp(error)) throw error;
      const limit = request.maxTimeS;
      notes.say({
        type: "INFO",
        text: `The search auto-finalized after it reached its time limit: ${limit} seconds.`,
      });
      this.#finalized = true;
      return await this.earlyRows();
    } finally {
      this.#took("command.total", startedAt);
    }
  }

  /** Gives all rows away, slice after slice, each when the one before has been taken. */
  async #send(
    result: Relation,
    outlet: RowOutlet,
    store: LogStore,
    step: () => Promise<void>,
  ): Promise<Rows> {
    const now = () => this.#createContext(store, this.signal, this.#leftMs, this.#hasDone);
    for await (const slice of slicesOf(outlet.shown(result), outlet.part, now)) {
      await step();
      await outlet.give(slice, this.signal);
    }
    return emptyRows;
  }

  /** It was stopped, by its owner or by its time limit: it shows what can be found quickly. */
  async earlyRows(): Promise<Rows> {
    const result = this.#compiled?.result;
    const { outlet } = this.#search.request;
    if (result?.kind !== "events" || outlet?.hasBegun) return emptyRows;
    try {
      this.#context = await this.beside(AbortSignal.timeout(EARLY_MS), EARLY_MS);
      const shown = outlet?.shown(result) ?? result;
      const rows = await this.#context.run(limit(shown, EARLY_ROWS), EARLY_ROWS);
      if (outlet === undefined) return rows;
      await outlet.give(partOf(rows, outlet.part));
      return emptyRows;
    } catch (error) {
      this.#parts.log.warn({ err: error, sid: this.#search.sid }, "a search that ended early shows no rows");
      this.#search.notes.note("dispatchRunner", "no rows were found in time", "WARN");
      return emptyRows;
    }
  }

  /** The first of its events, while it goes on. */
  async firstEvents(maxRows: number): Promise<Rows> {
    const result = this.#compiled?.result;
    if (result?.kind !== "events" || this.#context === undefined) return emptyRows;
    return this.#context.run(limit(result, maxRows), maxRows);
  }

  /** For what is asked beside the search itself, and says nothing of how far that is. It ends with `signal`. */
  async beside(signal: AbortSignal, deadlineMs: number): Promise<SearchContext> {
    return this.#createContext(await this.#parts.store(), signal, deadlineMs);
  }

  async #compile(context: SearchContext, before: () => Promise<void>): Promise<CompiledSearch> {
    const { pipeline, options } = this.#search;
    const compiled = await compileSearch(pipeline, context, {
      before,
      narrow: (found) => narrowed(found, options),
    });
    const shown = withLevel(compiled.result, compiled.scanned, pipeline, options);
    this.#compiled = { ...compiled, result: withAddresses(shown, pipeline) };
    return this.#compiled;
  }

  /** Says so when the search was to end after so many events, and there were as many. */
  async #checkEvents(store: LogStore): Promise<void> {
    const { options, notes } = this.#search;
    const { finalizeAfter } = options;
    const scanned = this.#compiled?.scanned;
    if (finalizeAfter === 0 || scanned === undefined) return;
    const { count } = await eventFigures(store, scanned, { signal: this.signal });
    if (count < finalizeAfter) return;
    this.#finalized = true;
    const text = `Search auto-finalized after event count limit (${finalizeAfter} events) reached.`;
    notes.say({ type: "WARN", text });
  }

  /** @param progress is told how far its statements are */
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

  #startedCommand(): void {
    if (this.#commands > 0) {
      this.#prepared = this.#commands;
      if (eventCommands(this.#search.pipeline) === 0) this.#share = 0;
    }
    this.#commands++;
  }

  /** How long what is run now may take. */
  get #leftMs(): number {
    const { maxTimeS } = this.#search.request;
    return maxTimeS > 0 ? (maxTimeS - this.elapsedS) * 1000 : LONGEST_MS;
  }

  readonly #hasDone = (share: number) => {
    this.#share = Math.max(this.#share, share);
  };

  /** Whether the search's own time limit ended it. */
  #isTimeUp(error: unknown): boolean {
    const { maxTimeS } = this.#search.request;
    return maxTimeS > 0 && error instanceof QueryInterrupted && error.reason === "deadline";
  }

  #took(what: string, sinceAt: number): void {
    this.durations.set(what, (performance.now() - sinceAt) / 1000);
  }
}

/** A search at work, or done: what is behind its row in the world. */
import { performance } from "node:perf_hooks";
import type { Logger } from "pino";
import { type LogStore, QueryInterrupted, QueueFull } from "../../datasets/store/log-store.ts";
import type { Clock } from "../../sandbox/clock.ts";
import type { NewRowOf } from "../../sandbox/table.ts";
import { createSearchContext } from "../spl/create-context.ts";
import type { Knowledge } from "../spl/knowledge.ts";
import { parseSearch } from "../spl/parse-search.ts";
import { limited, type Relation } from "../spl/relation.ts";
import type { Rows } from "../spl/rows.ts";
import { defaultLimits, type SearchContext } from "../spl/search-context.ts";
import { SplError } from "../spl/spl-error.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import type { JobRow, LogQueryTables, logQueryTables } from "../world/tables.ts";
import { withAddresses } from "./event-address.ts";
import { type EventFigures, eventFigures } from "./event-figures.ts";
import { Gate } from "./gate.ts";
import { JobNotes } from "./job-notes.ts";
import { type JobOptions, jobOptionsOf } from "./job-options.ts";
import type { JobRequest } from "./job-request.ts";
import { narrowed } from "./narrowed.ts";
import { type CompiledSearch, compileSearch, eventCommands } from "./run-search.ts";
import { withLevel } from "./search-level.ts";
import type { Claim, Slots } from "./slots.ts";

/** The longest that a search may take when it sets no limit of its own. */
const LONGEST_MS = 600_000;
/** Rows that a search which is ended early still shows, and how long finding them may take. */
const EARLY_ROWS = 1_000;
const EARLY_MS = 5_000;
/** How long a question to a job that is over may take. */
const AFTERWARDS_MS = 60_000;

export interface JobParts {
  readonly tables: LogQueryTables;
  readonly clock: Clock;
  readonly knowledge: Knowledge;
  store(): Promise<LogStore>;
  readonly timeZone: string;
  readonly slots: Slots;
  readonly log: Logger;
  /** Called when a search is over. */
  over(): void;
}

export interface JobFigures {
  /** Of the events before any transforming command. */
  readonly found: EventFigures;
  /** Events that the first command found. */
  readonly scanned: number;
}

type Changes = Partial<NewRowOf<typeof logQueryTables.jobs.columns>>;

const noRows: Rows = { fields: [], rows: [] };

export class Job {
  readonly sid: string;
  readonly request: JobRequest;
  readonly pipeline: Pipeline;
  readonly createdMs: number;
  readonly notes: JobNotes;
  readonly options: JobOptions;
  /** Seconds that parts of it took, by the names that `performance` has for them. */
  readonly durations = new Map<string, number>();
  readonly #parts: JobParts;
  readonly #ending = new AbortController();
  readonly #gate = new Gate();
  #finalized = false;
  /** When somebody last asked about it, by the sandbox's clock. */
  #usedMs: number;
  /** The state it was in when it paused. */
  #pausedIn: JobRow["state"] | undefined;
  /** Whether it has paused because nobody asked: it does so once. */
  #paused = false;
  #previews: boolean | undefined;
  #previewCount = 0;
  #done: Promise<void> | undefined;
  /** Its row says how it ended, but its results are not here: it is searched again, and the row stays as it is. */
  #again = false;
  #context: SearchContext | undefined;
  #compiled: CompiledSearch | undefined;
  #rows: Rows | undefined;
  #figures: Promise<JobFigures> | undefined;
  /** Of the statement that runs. */
  #progress = 0;
  /** When it had its turn, by the process's own clock; absent while it waits. */
  #startedAt: number | undefined;

  /** @throws SplError of phase `dispatch` when the search cannot be read; nothing is begun then */
  constructor(parts: JobParts, request: JobRequest, sid: string) {
    this.#parts = parts;
    this.request = request;
    this.sid = sid;
    this.createdMs = Math.floor(parts.clock.now());
    this.notes = new JobNotes(parts.clock);
    this.options = jobOptionsOf(request.given);
    this.#usedMs = this.createdMs;
    this.#previews = this.options.preview;
    this.pipeline = parseSearch(request.search, parts.knowledge);
  }

  /** Settles when the search is over, however it ended; begins it if nobody has yet. Its row is there by then. */
  get done(): Promise<void> {
    this.#done ??= Promise.resolve().then(() => this.#live());
    return this.#done;
  }

  get row(): JobRow | undefined {
    return this.#parts.tables.table("jobs").get(this.sid);
  }

  /** The result, once there is one. */
  get rows(): Rows | undefined {
    return this.#rows;
  }

  /** What gives the result; absent until the search is compiled. */
  get result(): Relation | undefined {
    return this.#compiled?.result;
  }

  /** Whether the result's rows are events. */
  get isEvents(): boolean {
    return this.#compiled?.result.kind === "events";
  }

  /** How much of the search is done, from 0 to 1. */
  get progress(): number {
    if (this.isOver) return 1;
    return Math.min(0.99, Math.round(this.#progress * 100_000) / 100_000);
  }

  /** Seconds that it has run, until now or until it was over. */
  get runDurationS(): number {
    const row = this.row;
    return row && this.isOver ? row.run_duration_s : this.#elapsedS();
  }

  get paused(): boolean {
    return this.#gate.closed;
  }

  get isOver(): boolean {
    const state = this.row?.state;
    return state === undefined || state === "DONE" || state === "FAILED";
  }

  /** The events that it found, before any transforming command; absent until they are known, and when there are none. */
  get events(): Relation | undefined {
    return this.#compiled?.events;
  }

  /** Whether the events of a report can be looked at afterwards: `verbose` keeps them, and so does a timeline. */
  get keepsEvents(): boolean {
    const { level } = this.options;
    if (level === undefined || level === "verbose" || this.request.statusBuckets > 0) return true;
    return eventCommands(this.pipeline) === this.pipeline.commands.length;
  }

  store(): Promise<LogStore> {
    return this.#parts.store();
  }

  /** For what is asked of the job when it is over: a search over its results, its events. It ends with `signal`. */
  async reopened(signal: AbortSignal): Promise<SearchContext> {
    return this.#createContext(await this.#parts.store(), signal, AFTERWARDS_MS);
  }

  /** Somebody asks about it. */
  touch(): void {
    this.#usedMs = Math.max(this.#usedMs, this.#parts.clock.now());
  }

  /** Whether nobody asked about it for so long, while it ran, that it is to be cancelled. */
  get isAbandoned(): boolean {
    const { autoCancelS } = this.options;
    return autoCancelS > 0 && this.#idleMs() >= autoCancelS * 1000;
  }

  /** Whether it shows what it has found while it goes on; `undefined`: to who asks, though nobody has wanted it. */
  get previews(): boolean | undefined {
    return this.#previews;
  }

  set previews(enabled: boolean | undefined) {
    this.#previews = enabled;
  }

  /** How many previews it has shown. */
  get previewCount(): number {
    return this.#previewCount;
  }

  previewed(): void {
    this.#previewCount++;
  }

  pause(): void {
    if (this.isOver || this.paused) return;
    this.#gate.close();
    this.#pausedIn = this.row?.state;
    this.#update({ state: "PAUSED" });
    this.notes.note("DispatchManager", "paused");
  }

  unpause(): void {
    if (!this.paused) return;
    this.#update({ state: this.#pausedIn ?? "RUNNING" });
    this.notes.note("DispatchManager", "goes on");
    this.#gate.open();
  }

  /** Ends it with the rows it has. */
  finalize(): void {
    if (this.isOver) return;
    this.#finalized = true;
    this.notes.note("DispatchManager", "finalized");
    this.#ending.abort();
    this.#gate.open();
  }

  /** Ends it for good. Its row is removed by whoever calls this. */
  cancel(): void {
    this.#ending.abort();
    this.#gate.open();
  }

  /** Lets the results go, to save memory: they are found again when somebody asks for them. */
  forget(): void {
    if (!this.isOver) return;
    this.#rows = undefined;
    this.#done = undefined;
  }

  /** Figures of its events: counted when somebody asks the first time; `undefined` for a search that has none. */
  async figures(): Promise<JobFigures | undefined> {
    if (this.isOver) await this.done;
    if (this.events === undefined || this.row?.state !== "DONE") return undefined;
    this.#figures ??= this.#count();
    try {
      return await this.#figures;
    } catch (error) {
      this.#figures = undefined;
      throw error;
    }
  }

  /** What there is to see already: of a search that goes on, the first of its events. */
  async preview(maxRows: number): Promise<Rows> {
    if (this.#rows) return this.#rows;
    const result = this.#compiled?.result;
    if (result?.kind !== "events" || this.#context === undefined || this.isOver) return noRows;
    return this.#context.run(limited(result, maxRows), maxRows);
  }

  async #live(): Promise<void> {
    let free: (() => void) | undefined;
    this.#again = this.isOver;
    try {
      free = await this.#parts.slots.take(this.#claim, this.#ending.signal);
      await this.#run();
    } catch (error) {
      if (this.#finalized) await this.#endEarly();
      else if (this.row !== undefined) this.#fail(error);
    } finally {
      free?.();
      this.#parts.over();
    }
  }

  async #run(): Promise<void> {
    await this.#gate.pass();
    const startedAt = performance.now();
    this.#startedAt = startedAt;
    this.#update({ state: "PARSING" });
    const store = await this.#parts.store();
    const context = this.#createContext(store, this.#ending.signal);
    this.#context = context;
    await this.#gate.pass();
    this.#update({ state: "RUNNING" });
    this.notes.note("dispatchRunner", `search: ${this.pipeline.text}`);
    try {
      const step = async () => {
        this.#leaveAlone();
        await this.#gate.pass();
        this.#ending.signal.throwIfAborted();
      };
      const narrow = (found: Relation) => narrowed(found, this.options);
      const compiled = await compileSearch(this.pipeline, context, { before: step, narrow });
      const shown = withLevel(compiled.result, compiled.scanned, this.pipeline, this.options);
      this.#compiled = { ...compiled, result: withAddresses(shown, this.pipeline) };
      this.#took("dispatch.evaluate", startedAt);
      const fetchedAt = performance.now();
      const rows = await context.run(this.#compiled.result, this.request.maxCount);
      this.#took("dispatch.fetch", fetchedAt);
      await step();
      await this.#checkEvents(store);
      this.#finish(rows);
    } catch (error) {
      if (!this.#isTimeUp(error)) throw error;
      const limit = this.request.maxTimeS;
      this.notes.say({
        type: "WARN",
        text: `Search auto-finalized after time limit (${limit} seconds) reached.`,
      });
      this.#finalized = true;
      await this.#endEarly();
    } finally {
      this.#took("command.total", startedAt);
    }
  }

  /** Its place among those that wait: `setpriority` changes it. */
  get #claim(): Claim {
    const { owner, quota, priority } = this.request;
    const row = () => this.row;
    return {
      owner,
      quota,
      get priority() {
        return row()?.priority ?? priority;
      },
    };
  }

  readonly #hasDone = (share: number) => {
    this.#progress = Math.max(this.#progress, share);
  };

  /** Nobody has asked for a while: it ends, or waits, if that was wanted. */
  #leaveAlone(): void {
    const { autoPauseS } = this.options;
    if (this.isAbandoned) this.cancel();
    if (autoPauseS === 0 || this.#paused || this.#idleMs() < autoPauseS * 1000) return;
    this.#paused = true;
    this.pause();
  }

  #idleMs(): number {
    const finishedAt = this.row?.finished_at;
    return (finishedAt ? Date.parse(finishedAt) : this.#parts.clock.now()) - this.#usedMs;
  }

  /** Says so when the search was to end after so many events, and there were as many. */
  async #checkEvents(store: LogStore): Promise<void> {
    const { finalizeAfter } = this.options;
    const scanned = this.#compiled?.scanned;
    if (finalizeAfter === 0 || scanned === undefined) return;
    const { count } = await eventFigures(store, scanned, { signal: this.#ending.signal });
    if (count < finalizeAfter) return;
    this.#finalized = true;
    const text = `Search auto-finalized after event count limit (${finalizeAfter} events) reached.`;
    this.notes.say({ type: "WARN", text });
  }

  #createContext(store: LogStore, signal: AbortSignal, deadlineMs?: number): SearchContext {
    const { knowledge, timeZone } = this.#parts;
    const { request, sid } = this;
    const limitMs = request.maxTimeS > 0 ? request.maxTimeS * 1000 : LONGEST_MS;
    return createSearchContext({
      store,
      knowledge,
      nowMs: request.nowMs ?? this.createdMs,
      timeZone,
      range: request.range,
      limits: { ...defaultLimits, maxResultRows: request.maxCount },
      sid,
      user: request.owner,
      app: request.app,
      signal,
      deadlineMs: deadlineMs ?? limitMs,
      parse: (text) => parseSearch(text, knowledge),
      warn: (message) => this.notes.say(message),
      // What is asked of it beside its own search says nothing of how far that is.
      ...(deadlineMs === undefined ? { progress: this.#hasDone } : {}),
      ran: (statement) => this.notes.note("SearchOperator", statement),
    });
  }

  /** It was stopped, by its owner or by its time limit: it shows what can be found quickly. */
  async #endEarly(): Promise<void> {
    let rows = noRows;
    const result = this.#compiled?.result;
    if (result?.kind === "events") {
      const signal = AbortSignal.timeout(EARLY_MS);
      try {
        const store = await this.#parts.store();
        this.#context = this.#createContext(store, signal, EARLY_MS);
        rows = await this.#context.run(limited(result, EARLY_ROWS), EARLY_ROWS);
      } catch (error) {
        this.notes.note("dispatchRunner", error instanceof Error ? error.message : String(error), "WARN");
      }
    }
    this.#finish(rows);
  }

  #finish(rows: Rows): void {
    this.#update({ state: "FINALIZING" });
    this.#rows = rows;
    this.#over({ state: "DONE", result_count: rows.rows.length, finalized: this.#finalized });
  }

  #fail(error: unknown): void {
    if (error instanceof SplError) {
      this.notes.say({ type: "FATAL", text: error.message }, { type: "ERROR", text: error.message });
    } else if (error instanceof QueryInterrupted || error instanceof QueueFull) {
      this.notes.say({ type: "FATAL", text: `Search not executed: ${error.message}.` });
    } else {
      this.#parts.log.error({ err: error, sid: this.sid }, "a search failed");
      const [line = "unknown reason"] = (error instanceof Error ? error.message : String(error)).split("\n");
      this.notes.say({ type: "FATAL", text: `The search failed: ${line}` });
    }
    this.#over({ state: "FAILED" });
  }

  #over(changes: Changes): void {
    const nowMs = Math.floor(this.#parts.clock.now());
    const seconds = this.#elapsedS();
    const expiresMs = nowMs + (this.row?.ttl_s ?? this.request.ttlS) * 1000;
    this.#update({
      ...changes,
      finished_at: new Date(nowMs).toISOString(),
      expires_at: new Date(expiresMs).toISOString(),
      run_duration_s: seconds,
      messages: [...this.notes.messages],
    });
    this.notes.note("dispatchRunner", `dispatchState=${changes.state} runDuration=${seconds.toFixed(3)}`);
  }

  /** Whether the search's own time limit ended it. */
  #isTimeUp(error: unknown): boolean {
    return this.request.maxTimeS > 0 && error instanceof QueryInterrupted && error.reason === "deadline";
  }

  async #count(): Promise<JobFigures> {
    const events = this.#compiled?.events;
    const scanned = this.#compiled?.scanned;
    if (events === undefined || scanned === undefined) throw new Error("the search has no events");
    const store = await this.#parts.store();
    const options = { deadlineMs: LONGEST_MS };
    const found = await eventFigures(store, events, options);
    const of = scanned.select === events.select ? found : await eventFigures(store, scanned, options);
    this.#write({ event_count: found.count, scan_count: of.count });
    return { found, scanned: of.count };
  }

  #update(changes: Changes): void {
    if (!this.#again) this.#write(changes);
  }

  #write(changes: Changes): void {
    this.#parts.tables.table("jobs").update(this.sid, changes);
  }

  /** To the millisecond. */
  #elapsedS(): number {
    return this.#startedAt === undefined ? 0 : Math.round(performance.now() - this.#startedAt) / 1000;
  }

  #took(what: string, sinceAt: number): void {
    this.durations.set(what, (performance.now() - sinceAt) / 1000);
  }
}

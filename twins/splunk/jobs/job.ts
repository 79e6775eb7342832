/** A search at work, or done: what is behind its row in the world. */
import {
  type LogStore,
  OutOfMemory,
  QueryInterrupted,
  QueueFull,
  StoreFull,
} from "@offhook/log-store/store/log-store";
import type { Clock } from "@offhook/platform/base/clock";
import type { NewRowOf } from "@offhook/platform/world/table";
import type { SearchContext } from "../spl/context/search-context.ts";
import { parseSearch } from "../spl/parse-search.ts";
import type { Relation } from "../spl/relation/relation.ts";
import { emptyRows, type Rows } from "../spl/relation/rows.ts";
import { SplError } from "../spl/spl-error.ts";
import type { Pipeline } from "../spl/syntax/ast.ts";
import type { JobRow, LogQueryTables, logQueryTables } from "../world/tables.ts";
import { Attention } from "./attention.ts";
import { eventCommands } from "./compile-search.ts";
import { type JobFigures, jobFigures } from "./event-figures.ts";
import { Gate } from "./gate.ts";
import { JobNotes, memoryExceeded } from "./job-notes.ts";
import { type JobOptions, jobOptionsOf } from "./job-options.ts";
import type { JobRequest } from "./job-request.ts";
import { type JobSearch, LONGEST_MS, type RunParts, type RunWatch, SearchRun } from "./search-run.ts";
import type { Claim, Slots } from "./slots.ts";

/** How long a question to a job that is over may take. */
const AFTERWARDS_MS = 60_000;
/** What to do about a search that has run out of memory. */
const SEARCH_LESS =
  "Search a shorter time, name the fields that are needed with 'fields' before the commands that look at all rows, or ask for fewer results with 'head'.";
/** What splunkd says of a search process that has died of a mistake of its own. */
const SEARCH_DIED =
  'Search process did not exit cleanly, exit_code=255, description="exited with code 255". Please look in search.log for this peer in the Job Inspector for more info.';

export interface JobParts extends RunParts {
  readonly tables: LogQueryTables;
  readonly clock: Clock;
  readonly slots: Slots;
  /** Called when a search is over. */
  over(): void;
}

type Changes = Partial<NewRowOf<typeof logQueryTables.jobs.columns>>;

export class Job implements JobSearch {
  readonly sid: string;
  readonly request: JobRequest;
  readonly pipeline: Pipeline;
  readonly createdMs: number;
  readonly notes: JobNotes;
  readonly options: JobOptions;
  readonly attention: Attention;
  /** Whether it shows what it has found while it goes on; `undefined`: to who asks, though nobody has wanted it. */
  previews: boolean | undefined;
  readonly #parts: JobParts;
  readonly #run: SearchRun;
  readonly #gate = new Gate();
  /** The state it was in when it paused. */
  #pausedIn: JobRow["state"] | undefined;
  #previewCount = 0;
  #done: Promise<void> | undefined;
  /** Its row says how it ended, but its results are not here: it is searched again, and the row stays as it is. */
  #again = false;
  /** What is wrong with the text of the search that splunkd finds when the search is at work already. */
  readonly #refused: SplError | undefined;
  #rows: Rows | undefined;
  #figures: Promise<JobFigures | undefined> | undefined;

  /** @throws SplError of phase `dispatch` when the search cannot be read; nothing is begun then */
  constructor(parts: JobParts, request: JobRequest, sid: string) {
    this.#parts = parts;
    this.request = request;
    this.sid = sid;
    this.createdMs = Math.floor(parts.clock.now());
    this.notes = new JobNotes(parts.clock);
    this.options = jobOptionsOf(request.given);
    this.attention = new Attention(parts.clock, this.options, this.createdMs, () => {
      const finishedAt = this.row?.finished_at;
      return finishedAt ? Date.parse(finishedAt) : undefined;
    });
    this.previews = this.options.preview;
    try {
      this.pipeline = parseSearch(request.search, parts.knowledge.within(request));
    } catch (error) {
      if (!(error instanceof SplError) || error.phase === "dispatch") throw error;
      this.pipeline = { commands: [], text: request.search };
      this.#refused = error;
    }
    this.#run = new SearchRun(parts, this);
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
    return this.#run.compiled?.result;
  }

  /** Whether the result's rows are events. */
  get isEvents(): boolean {
    return this.result?.kind === "events";
  }

  /** The events that it found, before any transforming command; absent until they are known, and when there are none. */
  get events(): Relation | undefined {
    return this.#run.compiled?.events;
  }

  /** Whether the events of a report can be looked at afterwards: `verbose` keeps them, and so does a timeline. */
  get keepsEvents(): boolean {
    const { level } = this.options;
    if (level === undefined || level === "verbose" || this.request.statusBuckets > 0) return true;
    return eventCommands(this.pipeline) === this.pipeline.commands.length;
  }

  /** How much of the search is done, from 0 to 1. */
  get progress(): number {
    return this.isOver ? 1 : this.#run.progress;
  }

  /** Seconds that it has run, until now or until it was over. */
  get runDurationS(): number {
    const row = this.row;
    return row && this.isOver ? row.run_duration_s : this.#run.elapsedS;
  }

  /** Seconds that parts of it took, by the names that `performance` has for them. */
  get durations(): ReadonlyMap<string, number> {
    return this.#run.durations;
  }

  get paused(): boolean {
    return this.#gate.closed;
  }

  get isOver(): boolean {
    const state = this.row?.state;
    return state === undefined || state === "DONE" || state === "FAILED";
  }

  store(): Promise<LogStore> {
    return this.#parts.store();
  }

  /** For what is asked of the job when it is over: a search over its results, its events. It ends with `signal`. */
  reopened(signal: AbortSignal): Promise<SearchContext> {
    return this.#run.beside(signal, AFTERWARDS_MS);
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
    this.notes.note("DispatchManager", "finalized");
    this.#run.finalize();
    this.#gate.open();
  }

  /** Ends it for good. Its row is removed by whoever calls this. */
  cancel(): void {
    if (this.#rows === undefined) this.#run.cancel();
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
    return this.isOver ? emptyRows : this.#run.firstEvents(maxRows);
  }

  async #live(): Promise<void> {
    let free: (() => void) | undefined;
    this.#again = this.isOver;
    try {
      if (this.#refused) throw this.#refused;
      free = await this.#parts.slots.take(this.#claim, this.#run.signal);
      this.#finish(await this.#run.rows(this.#watch));
    } catch (error) {
      if (this.#run.finalized) {
        this.#update({ state: "FINALIZING" });
        this.#finish(await this.#run.earlyRows());
      } else if (this.row !== undefined) this.#fail(error);
    } finally {
      free?.();
      this.#parts.over();
      this.request.outlet?.end();
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

  /** A run goes on when the gate is open, and somebody still asks about it. */
  readonly #watch: RunWatch = {
    enter: async (state) => {
      await this.#gate.pass();
      this.#update({ state });
    },
    before: async () => {
      if (this.attention.isLost) this.cancel();
      if (this.attention.takePause()) this.pause();
      await this.#gate.pass();
    },
  };

  #finish(rows: Rows): void {
    this.#rows = rows;
    const result_count = this.request.outlet?.given ?? rows.rows.length;
    this.#over({ state: "DONE", result_count, finalized: this.#run.finalized });
  }

  #fail(error: unknown): void {
    if (error instanceof SplError) {
      this.notes.say({ type: "FATAL", text: error.message }, { type: "ERROR", text: error.message });
    } else if (
      error instanceof QueryInterrupted ||
      error instanceof QueueFull ||
      error instanceof StoreFull
    ) {
      this.notes.say({ type: "FATAL", text: `Search not executed: ${error.message}.` });
    } else if (error instanceof OutOfMemory) {
      this.notes.say(
        { type: "FATAL", text: memoryExceeded(error, this.sid) },
        { type: "INFO", text: SEARCH_LESS },
      );
    } else {
      this.#parts.log.error({ err: error, sid: this.sid }, "a search failed");
      this.notes.note("SearchProcess", "the search process failed; the log of the twins says why", "ERROR");
      this.notes.say({ type: "FATAL", text: SEARCH_DIED });
    }
    this.#over({ state: "FAILED" });
  }

  #over(changes: Changes): void {
    const nowMs = Math.floor(this.#parts.clock.now());
    const seconds = this.#run.elapsedS;
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

  async #count(): Promise<JobFigures | undefined> {
    if (this.#run.compiled === undefined) return undefined;
    const store = await this.#parts.store();
    const figures = await jobFigures(store, this.#run.compiled, { deadlineMs: LONGEST_MS });
    if (figures) this.#write({ event_count: figures.found.count, scan_count: figures.scanned });
    return figures;
  }

  #update(changes: Changes): void {
    if (!this.#again) this.#write(changes);
  }

  #write(changes: Changes): void {
    this.#parts.tables.table("jobs").update(this.sid, changes);
  }
}

/** A running or finished search: the live object behind a row of `jobs`. */
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
import { ClientPresence } from "./client-presence.ts";
import { eventCommands } from "./compile-search.ts";
import { countEvents, type EventCounts } from "./event-statistics.ts";
import { Gate } from "./gate.ts";
import { JobNotes, memoryExceededMessage } from "./job-notes.ts";
import { type JobOptions, jobOptionsOf } from "./job-options.ts";
import type { JobRequest } from "./job-request.ts";
import { type JobSearch, MAX_RUN_MS, type RunHooks, type RunParts, SearchRun } from "./search-run.ts";
import type { Claim, Slots } from "./slots.ts";

/** Longest statement over a finished job. */
const FOLLOW_UP_MS = 60_000;
/** Advice for a search that ran out of memory. */
const OUT_OF_MEMORY_ADVICE =
  "Search a shorter time, name the fields that are needed with 'fields' before the commands that look at all rows, or ask for fewer results with 'head'.";
/** Splunkd's message about a search process that crashed. */
const SEARCH_DIED =
  'Search process did not exit cleanly, exit_code=255, description="exited with code 255". Please look in search.log for this peer in the Job Inspector for more info.';

export interface JobParts extends RunParts {
  readonly tables: LogQueryTables;
  readonly clock: Clock;
  readonly slots: Slots;
  /** Called when a search ends. */
  onFinished(): void;
}

type Changes = Partial<NewRowOf<typeof logQueryTables.jobs.columns>>;

export class Job implements JobSearch {
  readonly sid: string;
  readonly request: JobRequest;
  readonly pipeline: Pipeline;
  readonly createdMs: number;
  readonly notes: JobNotes;
  readonly options: JobOptions;
  readonly presence: ClientPresence;
  /** Whether the running search shows previews; `undefined`: shows them although no client enabled them. */
  previews: boolean | undefined;
  readonly #parts: JobParts;
  readonly #run: SearchRun;
  readonly #gate = new Gate();
  /** The state before the pause. */
  #pausedIn: JobRow["state"] | undefined;
  #previewCount = 0;
  #done: Promise<void> | undefined;
  /** The search runs again to find its dropped results; its row keeps the first outcome. */
  #isRerun = false;
  /** An error in the search text that splunkd reports only once the job runs. */
  readonly #parseError: SplError | undefined;
  #rows: Rows | undefined;
  #eventCounts: Promise<EventCounts | undefined> | undefined;

  /** @throws SplError of phase `dispatch` when the search cannot be parsed */
  constructor(parts: JobParts, request: JobRequest, sid: string) {
    this.#parts = parts;
    this.request = request;
    this.sid = sid;
    this.createdMs = Math.floor(parts.clock.now());
    this.notes = new JobNotes(parts.clock);
    this.options = jobOptionsOf(request.given);
    this.presence = new ClientPresence(parts.clock, this.options, this.createdMs, () => {
      const finishedAt = this.row?.finished_at;
      return finishedAt ? Date.parse(finishedAt) : undefined;
    });
    this.previews = this.options.preview;
    try {
      this.pipeline = parseSearch(request.search, parts.knowledge.within(request));
    } catch (error) {
      if (!(error instanceof SplError) || error.phase === "dispatch") throw error;
      this.pipeline = { commands: [], text: request.search };
      this.#parseError = error;
    }
    this.#run = new SearchRun(parts, this);
  }

  /** Starts the search on first use; resolves when it ends, in whatever way. The row must exist by then. */
  get done(): Promise<void> {
    this.#done ??= Promise.resolve().then(() => this.#execute());
    return this.#done;
  }

  get row(): JobRow | undefined {
    return this.#parts.tables.table("jobs").get(this.sid);
  }

  /** Absent until the search is done, and after its results were dropped. */
  get rows(): Rows | undefined {
    return this.#rows;
  }

  /** The result as a relation; absent until the search is compiled. */
  get result(): Relation | undefined {
    return this.#run.compiled?.result;
  }

  /** Whether the result's rows are events. */
  get isEvents(): boolean {
    return this.result?.kind === "events";
  }

  /** The events before any transforming command; absent until the search is compiled, and for a search without events. */
  get events(): Relation | undefined {
    return this.#run.compiled?.events;
  }

  /** Whether the events of a report stay available: with `verbose`, or with a timeline. */
  get keepsEvents(): boolean {
    const { level } = this.options;
    if (level === undefined || level === "verbose" || this.request.statusBuckets > 0) return true;
    return eventCommands(this.pipeline) === this.pipeline.commands.length;
  }

  /** Progress, from 0 to 1. */
  get progress(): number {
    return this.isOver ? 1 : this.#run.progress;
  }

  /** Seconds of the run, up to now or to its end. */
  get runDurationS(): number {
    const row = this.row;
    return row && this.isOver ? row.run_duration_s : this.#run.elapsedS;
  }

  /** Seconds that the parts of the run took, by their names in `performance`. */
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

  /** A context for follow-up statements, such as a search over the results. Ends with `signal`. */
  openContext(signal: AbortSignal): Promise<SearchContext> {
    return this.#run.openContext(signal, FOLLOW_UP_MS);
  }

  /** Number of previews shown. */
  get previewCount(): number {
    return this.#previewCount;
  }

  countPreview(): void {
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

  /** Ends the search with the rows it has. */
  finalize(): void {
    if (this.isOver) return;
    this.notes.note("DispatchManager", "finalized");
    this.#run.finalize();
    this.#gate.open();
  }

  /** Ends the search without rows. The caller removes the job's row. */
  cancel(): void {
    if (this.#rows === undefined) this.#run.cancel();
    this.#gate.open();
  }

  /** Drops the results to free memory; the next use of `done` finds them again. */
  dropResults(): void {
    if (!this.isOver) return;
    this.#rows = undefined;
    this.#done = undefined;
  }

  /** Counts the events of the search, once; `undefined` for a search without events. */
  async countEvents(): Promise<EventCounts | undefined> {
    if (this.isOver) await this.done;
    if (this.events === undefined || this.row?.state !== "DONE") return undefined;
    this.#eventCounts ??= this.#count();
    try {
      return await this.#eventCounts;
    } catch (error) {
      this.#eventCounts = undefined;
      throw error;
    }
  }

  /** The result, or the first events that a running search found. */
  async preview(maxRows: number): Promise<Rows> {
    if (this.#rows) return this.#rows;
    return this.isOver ? emptyRows : this.#run.firstEvents(maxRows);
  }

  async #execute(): Promise<void> {
    let release: (() => void) | undefined;
    this.#isRerun = this.isOver;
    try {
      if (this.#parseError) throw this.#parseError;
      release = await this.#parts.slots.acquire(this.#claim, this.#run.signal);
      this.#finish(await this.#run.rows(this.#watch));
    } catch (error) {
      if (this.#run.finalized) {
        this.#update({ state: "FINALIZING" });
        this.#finish(await this.#run.partialRows());
      } else if (this.row !== undefined) this.#fail(error);
    } finally {
      release?.();
      this.#parts.onFinished();
      this.request.stream?.end();
    }
  }

  /** The claim for a slot; `setpriority` changes its priority while it waits. */
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

  /** Makes the run wait at a closed gate, and applies `auto_cancel` and `auto_pause`. */
  readonly #watch: RunHooks = {
    enter: async (state) => {
      await this.#gate.pass();
      this.#update({ state });
    },
    before: async () => {
      if (this.presence.isAbandoned) this.cancel();
      if (this.presence.pauseOnce()) this.pause();
      await this.#gate.pass();
    },
  };

  #finish(rows: Rows): void {
    this.#rows = rows;
    const result_count = this.request.stream?.rowCount ?? rows.rows.length;
    this.#recordEnd({ state: "DONE", result_count, finalized: this.#run.finalized });
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
        { type: "FATAL", text: memoryExceededMessage(error, this.sid) },
        { type: "INFO", text: OUT_OF_MEMORY_ADVICE },
      );
    } else {
      this.#parts.log.error({ err: error, sid: this.sid }, "a search failed");
      this.notes.note("SearchProcess", "the search process failed; the log of the twins says why", "ERROR");
      this.notes.say({ type: "FATAL", text: SEARCH_DIED });
    }
    this.#recordEnd({ state: "FAILED" });
  }

  #recordEnd(changes: Changes): void {
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

  async #count(): Promise<EventCounts | undefined> {
    if (this.#run.compiled === undefined) return undefined;
    const store = await this.#parts.store();
    const counts = await countEvents(store, this.#run.compiled, { deadlineMs: MAX_RUN_MS });
    if (counts) this.#write({ event_count: counts.found.count, scan_count: counts.scanned });
    return counts;
  }

  #update(changes: Changes): void {
    if (!this.#isRerun) this.#write(changes);
  }

  #write(changes: Changes): void {
    this.#parts.tables.table("jobs").update(this.sid, changes);
  }
}

/**
 * Runs saved searches by their schedules on the sandbox's clock, whether the clock reaches a time or is set past it. Like splunkd, it
 * runs a search with `realtime_schedule` for the latest missed time only, and any other search for each missed time.
 */
import type { MovingClock } from "@offhook/platform/base/clock";
import type { Key } from "@offhook/platform/world/table";
import { ownedKey } from "../world/ownership.ts";
import type { SavedSearchRow } from "../world/tables.ts";
import { lastTimeMs, nextRunMs, scheduleOf, schedulePeriodMs } from "./due-times.ts";
import type { SavedSearchTwin } from "./saved-search-twin.ts";
import { recordSkipped, runScheduled } from "./scheduled-run.ts";
import { settingsOf } from "./settings.ts";

/** Longest delay of a Node timer. */
const MAX_TIMER_MS = 2_147_483_647;
/** Missed times that a search catches up on. */
const MAX_MISSED_RUNS = 1_000;
/** Scheduled searches that run at a time; beyond that, runs are skipped or wait. */
const MAX_RUNNING = 50;

interface Entry {
  /** The schedule that `nextMs` was computed from. */
  schedule: string | undefined;
  nextMs: number | undefined;
  /** Number of active runs, and of all runs so far. */
  running: number;
  runs: number;
}

export class Scheduler {
  readonly #twin: SavedSearchTwin;
  readonly #clock: MovingClock;
  readonly #entries = new Map<Key, Entry>();
  readonly #working = new Set<Promise<void>>();
  readonly #unwatch: readonly (() => void)[];
  #timer: NodeJS.Timeout | undefined;
  #isCheckScheduled = false;
  #seenMs: number;
  #stopped = false;

  constructor(twin: SavedSearchTwin, clock: MovingClock) {
    this.#twin = twin;
    this.#clock = clock;
    this.#seenMs = clock.now();
    this.#unwatch = [
      clock.watch(() => this.#scheduleCheck()),
      twin.tables.watch(({ table, change }) => {
        // The tables were replaced: no time of the new schedules is overdue.
        if (change === "reset") this.#entries.clear();
        if (change === "reset" || table === "saved_searches") this.#scheduleCheck();
      }),
    ];
    this.#scheduleCheck();
  }

  /** Starts no more runs. Resolves when the running ones end; the caller ends their jobs. */
  stop(): Promise<unknown> {
    this.#stopped = true;
    for (const end of this.#unwatch) end();
    clearTimeout(this.#timer);
    return Promise.allSettled(this.#working);
  }

  /** Schedules one check for all changes of the same turn of the event loop. */
  #scheduleCheck(): void {
    if (this.#isCheckScheduled || this.#stopped) return;
    this.#isCheckScheduled = true;
    queueMicrotask(() => {
      this.#isCheckScheduled = false;
      if (!this.#stopped) this.#check();
    });
  }

  #check(): void {
    const nowMs = this.#clock.now();
    // The clock was set back: its times come again.
    if (nowMs < this.#seenMs) for (const entry of this.#entries.values()) entry.schedule = undefined;
    this.#seenMs = nowMs;
    const rows = this.#twin.tables.table("saved_searches").all().filter(scheduleOf);
    const keys = new Set(rows.map(ownedKey));
    for (const key of this.#entries.keys()) if (!keys.has(key)) this.#entries.delete(key);
    for (const row of rows) {
      const entry = this.#track(row, nowMs);
      while (entry.nextMs !== undefined && entry.nextMs <= nowMs) {
        if (!this.#startDue(row, entry, entry.nextMs, nowMs)) break;
      }
    }
    this.#armTimer(nowMs);
  }

  /** The entry of a saved search; a new schedule has its first time after now. */
  #track(row: SavedSearchRow, nowMs: number): Entry {
    const schedule = `${row.cron_schedule}\n${row.rescheduled_to ?? ""}`;
    const entry = this.#entries.get(ownedKey(row)) ?? {
      schedule: undefined,
      nextMs: undefined,
      running: 0,
      runs: 0,
    };
    this.#entries.set(ownedKey(row), entry);
    if (entry.schedule === schedule) return entry;
    entry.schedule = schedule;
    entry.nextMs = nextRunMs(row, nowMs, this.#twin.timeZone);
    return entry;
  }

  /** Starts or skips the run of a due time. @returns false when a continuous schedule has to wait for a previous run */
  #startDue(row: SavedSearchRow, entry: Entry, dueMs: number, nowMs: number): boolean {
    const { timeZone } = this.#twin;
    const settings = settingsOf(row);
    const maxConcurrent = Number(settings.max_concurrent) || 1;
    const isAtOwnLimit = entry.running >= maxConcurrent;
    const isBusy = isAtOwnLimit || this.#working.size >= MAX_RUNNING;
    const cron = scheduleOf(row);
    if (settings.realtime_schedule !== false) {
      const atMs = (cron && lastTimeMs(cron, dueMs, nowMs, timeZone)) ?? dueMs;
      this.#advance(row, entry, dueMs, nowMs);
      if (isBusy) recordSkipped(this.#twin, row, atMs, isAtOwnLimit ? SEARCH_BUSY : INSTANCE_BUSY);
      else this.#run(row, entry, atMs, Number(settings.run_n_times));
      return true;
    }
    if (isBusy) return false;
    const periodMs = schedulePeriodMs(row, dueMs - 1, timeZone) ?? 0;
    const firstMs = nowMs - MAX_MISSED_RUNS * periodMs;
    if (periodMs > 0 && dueMs < firstMs) {
      this.#advance(row, entry, dueMs, firstMs);
      recordSkipped(this.#twin, row, dueMs, `Later times than the ${MAX_MISSED_RUNS} latest are skipped.`);
      return true;
    }
    this.#advance(row, entry, dueMs, dueMs);
    this.#run(row, entry, dueMs, Number(settings.run_n_times));
    return true;
  }

  /** Computes the next time after a moment, and clears a rescheduled time that has come. */
  #advance(row: SavedSearchRow, entry: Entry, dueMs: number, afterMs: number): void {
    entry.nextMs = nextRunMs({ ...row, rescheduled_to: null }, afterMs, this.#twin.timeZone);
    if (row.rescheduled_to === null || Date.parse(row.rescheduled_to) > dueMs) return;
    entry.schedule = `${row.cron_schedule}\n`;
    this.#twin.tables.table("saved_searches").update(ownedKey(row), { rescheduled_to: null });
  }

  #run(row: SavedSearchRow, entry: Entry, atMs: number, maxRuns: number): void {
    if (maxRuns > 0 && entry.runs >= maxRuns) return;
    entry.running++;
    entry.runs++;
    const work = runScheduled(this.#twin, row, atMs)
      .catch((error: unknown) => {
        this.#twin.log.error({ err: error, savedSearch: row.name }, "a scheduled search failed");
      })
      .finally(() => {
        entry.running--;
        this.#working.delete(work);
        this.#scheduleCheck();
      });
    this.#working.add(work);
  }

  /**
   * Sets a timer for the earliest next time, if the clock moves on by itself.
   * @param nowMs of the check: what has come since then waits for the clock
   */
  #armTimer(nowMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Overdue times wait for a run to end, not for the clock.
    const times = [...this.#entries.values()].flatMap(({ nextMs }) =>
      nextMs === undefined || nextMs <= nowMs ? [] : [nextMs],
    );
    if (times.length === 0) return;
    const realMs = this.#clock.realMsUntil(times.reduce((earliest, one) => Math.min(earliest, one)));
    if (realMs === undefined) return;
    this.#timer = setTimeout(() => this.#scheduleCheck(), Math.min(Math.ceil(realMs), MAX_TIMER_MS)).unref();
  }
}

const SEARCH_BUSY =
  "The maximum number of concurrent running jobs for this historical scheduled search on this instance has been reached.";
const INSTANCE_BUSY =
  "The maximum number of concurrent historical scheduled searches on this instance has been reached.";

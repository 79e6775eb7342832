/**
 * Runs saved searches by their schedules, on the sandbox's clock: when it comes to a time by itself, or is set past it. As splunkd, a
 * search of `realtime_schedule` runs for the latest of the times that have passed, and any other for each of them.
 */
import type { MovingClock } from "@offhook/platform/base/clock";
import type { Key } from "@offhook/platform/world/table";
import { ownedKey } from "../world/ownership.ts";
import type { SavedSearchRow } from "../world/tables.ts";
import { lastTimeMs, nextRunMs, scheduleOf, schedulePeriodMs } from "./due-times.ts";
import type { SavedSearchTwin } from "./saved-search-twin.ts";
import { recordSkipped, runScheduled } from "./scheduled-run.ts";
import { settingsOf } from "./settings.ts";

/** The longest that a timer takes. */
const MAX_TIMER_MS = 2_147_483_647;
/** Times that a search catches up with. */
const MAX_MISSED_RUNS = 1_000;
/** Scheduled searches at a time; beyond, times are skipped, or wait. */
const MAX_RUNNING = 50;

interface Entry {
  /** By what its times were found. */
  schedule: string | undefined;
  nextMs: number | undefined;
  /** How many of its runs are at work, and how many there have been. */
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
  #isAsked = false;
  #seenMs: number;
  #stopped = false;

  constructor(twin: SavedSearchTwin, clock: MovingClock) {
    this.#twin = twin;
    this.#clock = clock;
    this.#seenMs = clock.now();
    this.#unwatch = [
      clock.watch(() => this.#ask()),
      twin.tables.watch(({ table, change }) => {
        // Another world: nothing of it is late.
        if (change === "reset") this.#entries.clear();
        if (change === "reset" || table === "saved_searches") this.#ask();
      }),
    ];
    this.#ask();
  }

  /** Begins nothing any more. @returns settles when what it has begun is over, which the end of its jobs is for */
  stop(): Promise<unknown> {
    this.#stopped = true;
    for (const end of this.#unwatch) end();
    clearTimeout(this.#timer);
    return Promise.allSettled(this.#working);
  }

  /** Looks once for all that happens at once. */
  #ask(): void {
    if (this.#isAsked || this.#stopped) return;
    this.#isAsked = true;
    queueMicrotask(() => {
      this.#isAsked = false;
      if (!this.#stopped) this.#look();
    });
  }

  #look(): void {
    const nowMs = this.#clock.now();
    // Set back, it comes to its times again.
    if (nowMs < this.#seenMs) for (const entry of this.#entries.values()) entry.schedule = undefined;
    this.#seenMs = nowMs;
    const rows = this.#twin.tables.table("saved_searches").all().filter(scheduleOf);
    const keys = new Set(rows.map(ownedKey));
    for (const key of this.#entries.keys()) if (!keys.has(key)) this.#entries.delete(key);
    for (const row of rows) {
      const entry = this.#entryOf(row, nowMs);
      while (entry.nextMs !== undefined && entry.nextMs <= nowMs) {
        if (!this.#begin(row, entry, entry.nextMs, nowMs)) break;
      }
    }
    this.#wait();
  }

  /** A schedule that is new has its first time after now. */
  #entryOf(row: SavedSearchRow, nowMs: number): Entry {
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

  /** @returns whether the time is done with: a continuous schedule waits for the run before */
  #begin(row: SavedSearchRow, entry: Entry, dueMs: number, nowMs: number): boolean {
    const { timeZone } = this.#twin;
    const settings = settingsOf(row);
    const most = Number(settings.max_concurrent) || 1;
    const isBusy = entry.running >= most || this.#working.size >= MAX_RUNNING;
    const cron = scheduleOf(row);
    if (settings.realtime_schedule !== false) {
      const atMs = (cron && lastTimeMs(cron, dueMs, nowMs, timeZone)) ?? dueMs;
      this.#goOn(row, entry, dueMs, nowMs);
      if (isBusy) recordSkipped(this.#twin, row, atMs, busy(entry.running >= most));
      else this.#run(row, entry, atMs, Number(settings.run_n_times));
      return true;
    }
    if (isBusy) return false;
    const periodMs = schedulePeriodMs(row, dueMs - 1, timeZone) ?? 0;
    const firstMs = nowMs - MAX_MISSED_RUNS * periodMs;
    if (periodMs > 0 && dueMs < firstMs) {
      this.#goOn(row, entry, dueMs, firstMs);
      recordSkipped(this.#twin, row, dueMs, `Later times than the ${MAX_MISSED_RUNS} latest are skipped.`);
      return true;
    }
    this.#goOn(row, entry, dueMs, dueMs);
    this.#run(row, entry, dueMs, Number(settings.run_n_times));
    return true;
  }

  /** Its next time is after a moment; a time that it was put to has come. */
  #goOn(row: SavedSearchRow, entry: Entry, dueMs: number, afterMs: number): void {
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
        this.#ask();
      });
    this.#working.add(work);
  }

  /** Until the first of the next times, if the clock goes there by itself. */
  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const nowMs = this.#clock.now();
    // What is late already waits for a run to end.
    const times = [...this.#entries.values()].flatMap(({ nextMs }) =>
      nextMs === undefined || nextMs <= nowMs ? [] : [nextMs],
    );
    if (times.length === 0) return;
    const realMs = this.#clock.realMsUntil(times.reduce((least, one) => Math.min(least, one)));
    if (realMs === undefined) return;
    this.#timer = setTimeout(() => this.#ask(), Math.min(Math.ceil(realMs), MAX_TIMER_MS)).unref();
  }
}

function busy(ofItself: boolean): string {
  return ofItself
    ? "The maximum number of concurrent running jobs for this historical scheduled search on this instance has been reached."
    : "The maximum number of concurrent historical scheduled searches on this instance has been reached.";
}

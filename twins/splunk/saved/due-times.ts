/** Due times of saved searches. */

import { type Cron, nextTimes, parseCron } from "../conf/cron.ts";
import type { SavedSearchRow } from "../world/tables.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How far back to look for a time, the shortest span first; a schedule without a time in the longest one has none. */
const lookbacksMs = [HOUR_MS, DAY_MS, 31 * DAY_MS, 366 * DAY_MS, 8 * 366 * DAY_MS];
/** Minutes of a day, both ends included: the most times of a schedule within the second span. */
const MAX_TIMES = 1_441;

/** The schedule of a saved search; `undefined`: it has none, or is disabled. */
export function scheduleOf(row: SavedSearchRow): Cron | undefined {
  return row.is_scheduled && !row.disabled ? parseCron(row.cron_schedule) : undefined;
}

/** The next run after a moment: the rescheduled one if any, else by the schedule. */
export function nextRunMs(row: SavedSearchRow, afterMs: number, timeZone: string): number | undefined {
  const cron = scheduleOf(row);
  if (cron === undefined) return undefined;
  const rescheduledMs = row.rescheduled_to === null ? undefined : Date.parse(row.rescheduled_to);
  if (rescheduledMs !== undefined && rescheduledMs >= afterMs) return rescheduledMs;
  return nextTimes(cron, afterMs, 1, timeZone)[0];
}

/** The last time of a schedule between two moments, both included. */
export function lastTimeMs(
  cron: Cron,
  fromMs: number,
  untilMs: number,
  timeZone: string,
): number | undefined {
  for (const lookMs of lookbacksMs) {
    const afterMs = Math.max(fromMs - 1, untilMs - lookMs);
    const found = nextTimes(cron, afterMs, MAX_TIMES, timeZone, untilMs + 1).at(-1);
    if (found !== undefined || afterMs === fromMs - 1) return found;
  }
  return undefined;
}

/** Time between the next two runs; `undefined` with fewer than two. */
export function schedulePeriodMs(row: SavedSearchRow, nowMs: number, timeZone: string): number | undefined {
  const cron = scheduleOf(row);
  const [first, second] = cron === undefined ? [] : nextTimes(cron, nowMs, 2, timeZone);
  return first === undefined || second === undefined ? undefined : second - first;
}

/** When saved searches are to run. */

import { type Cron, nextTimes, parseCron } from "../conf/cron.ts";
import type { SavedSearchRow } from "../world/tables.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How far back a time is looked for, the shortest first; a schedule that has not come for so long never does. */
const lookbacksMs = [HOUR_MS, DAY_MS, 31 * DAY_MS, 366 * DAY_MS, 8 * 366 * DAY_MS];
/** As many times as there are minutes in the second of these. */
const MAX_TIMES = 1_441;

/** The schedule it runs by; `undefined`: by none. */
export function scheduleOf(row: SavedSearchRow): Cron | undefined {
  return row.is_scheduled && !row.disabled ? parseCron(row.cron_schedule) : undefined;
}

/** When it is to run next, of what is after a moment: at the time it was put to, else by its schedule. */
export function nextRunMs(row: SavedSearchRow, afterMs: number, timeZone: string): number | undefined {
  const cron = scheduleOf(row);
  if (cron === undefined) return undefined;
  const rescheduledMs = row.rescheduled_to === null ? undefined : Date.parse(row.rescheduled_to);
  if (rescheduledMs !== undefined && rescheduledMs >= afterMs) return rescheduledMs;
  return nextTimes(cron, afterMs, 1, timeZone)[0];
}

/** The last time of a schedule from one moment until another, both included. */
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

/** How long it is between two runs; `undefined` when it runs no more than once. */
export function schedulePeriodMs(row: SavedSearchRow, nowMs: number, timeZone: string): number | undefined {
  const cron = scheduleOf(row);
  const [first, second] = cron === undefined ? [] : nextTimes(cron, nowMs, 2, timeZone);
  return first === undefined || second === undefined ? undefined : second - first;
}

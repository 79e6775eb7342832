/** Relative times: `-1h@h`, `@w1`, `+7d@d`, `@d+3h`. */
import { DAY_MS, floorTo, plus } from "@offhook/log-store/dates/calendar";
import type { TimeZone } from "@offhook/log-store/dates/time-zone";
import { findTimeUnit, type TimeUnit } from "./time-units.ts";

/** Steps apply from left to right. */
export type TimeStep =
  | { readonly step: "move"; readonly count: number; readonly unit: TimeUnit }
  /** Rounds down to the start of the unit. @param weekday first day of a week, 0 for Sunday */
  | { readonly step: "snap"; readonly unit: TimeUnit; readonly weekday: number };

const MAX_STEPS = 100;
const steps = /([+-])(\d*)([a-z]+)|@([a-z]+)(\d?)/iy;

/** @returns `undefined` if the text is no relative time */
export function parseRelativeTime(text: string): readonly TimeStep[] | undefined {
  const found: TimeStep[] = [];
  steps.lastIndex = 0;
  while (steps.lastIndex < text.length) {
    const match = steps.exec(text);
    const step = match === null ? undefined : readStep(match);
    if (step === undefined || found.length >= MAX_STEPS) return undefined;
    found.push(step);
  }
  return found.length === 0 ? undefined : found;
}

function readStep([, sign, count = "", moveUnit, snapUnit, weekday = ""]: RegExpExecArray):
  | TimeStep
  | undefined {
  if (snapUnit === undefined) {
    const unit = findTimeUnit(moveUnit ?? "");
    const amount = count === "" ? 1 : Number(count);
    if (unit === undefined || amount > 1e9) return undefined;
    return { step: "move", count: sign === "-" ? -amount : amount, unit };
  }
  const unit = findTimeUnit(snapUnit);
  if (unit === undefined) return undefined;
  if (weekday === "") return { step: "snap", unit, weekday: 0 };
  const isWeekday = snapUnit.toLowerCase() === "w" && Number(weekday) <= 7;
  return isWeekday ? { step: "snap", unit, weekday: Number(weekday) % 7 } : undefined;
}

/** Applies a relative time to a moment, in milliseconds. `undefined` if the result is beyond the range of dates. */
export function relativeTime(
  fromMs: number,
  relative: readonly TimeStep[],
  zone: TimeZone,
): number | undefined {
  let atMs = fromMs;
  for (const step of relative) {
    atMs =
      step.step === "move"
        ? move(atMs, step.count, step.unit, zone)
        : snap(atMs, step.unit, step.weekday, zone);
    if (!(Math.abs(atMs) <= 8.64e15)) return undefined;
  }
  return atMs;
}

function move(atMs: number, count: number, unit: TimeUnit, zone: TimeZone): number {
  if (unit.kind === "fixed") return atMs + count * unit.ms;
  return zone.toEpoch(plus(atMs + zone.offsetAt(atMs), count, unit.unit));
}

function snap(atMs: number, unit: TimeUnit, weekday: number, zone: TimeZone): number {
  const offsetMs = zone.offsetAt(atMs);
  const localMs = atMs + offsetMs;
  if (unit.kind === "fixed") return Math.floor(localMs / unit.ms) * unit.ms - offsetMs;
  if (unit.unit !== "week") return zone.toEpoch(floorTo(localMs, unit.unit));
  // Calendar weeks begin on Monday: other first days are shifted there and back.
  const shiftMs = ((weekday + 6) % 7) * DAY_MS;
  return zone.toEpoch(floorTo(localMs - shiftMs, "week") + shiftMs);
}

/** Relative times: `-1h@h`, `@w1`, `+7d@d`, `@d+3h`. */
import { DAY_MS, floorTo, plus } from "@offhook/log-store/dates/calendar";
import type { TimeZone } from "@offhook/log-store/dates/time-zone";
import { findTimeUnit, type TimeUnit } from "./time-units.ts";

/** Done one after the other, from left to right. */
export type TimeStep =
  | { readonly step: "move"; readonly count: number; readonly unit: TimeUnit }
  /** Down to the start of the unit. @param weekday of a week: the day it begins with, from Sunday, 0 */
  | { readonly step: "snap"; readonly unit: TimeUnit; readonly weekday: number };

const MAX_STEPS = 100;
const steps = /([+-])(\d*)([a-z]+)|@([a-z]+)(\d?)/iy;

/** `undefined` when the text is no relative time. */
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

/** The moment that is meant, seen from another; milliseconds. `undefined` when no calendar has it. */
export function relativeTime(
  fromMs: number,
  relative: readonly TimeStep[],
  zone: TimeZone,
): number | undefined {
  let atMs = fromMs;
  for (const step of relative) {
    atMs =
      step.step === "move"
        ? moved(atMs, step.count, step.unit, zone)
        : snapped(atMs, step.unit, step.weekday, zone);
    if (!(Math.abs(atMs) <= 8.64e15)) return undefined;
  }
  return atMs;
}

function moved(atMs: number, count: number, unit: TimeUnit, zone: TimeZone): number {
  if (unit.kind === "fixed") return atMs + count * unit.ms;
  return zone.toEpoch(plus(atMs + zone.offsetAt(atMs), count, unit.unit));
}

function snapped(atMs: number, unit: TimeUnit, weekday: number, zone: TimeZone): number {
  const offsetMs = zone.offsetAt(atMs);
  const localMs = atMs + offsetMs;
  if (unit.kind === "fixed") return Math.floor(localMs / unit.ms) * unit.ms - offsetMs;
  if (unit.unit !== "week") return zone.toEpoch(floorTo(localMs, unit.unit));
  // Weeks of the calendar begin on Monday: so a week that begins on another day is one of shifted days.
  const shiftMs = ((weekday + 6) % 7) * DAY_MS;
  return zone.toEpoch(floorTo(localMs - shiftMs, "week") + shiftMs);
}

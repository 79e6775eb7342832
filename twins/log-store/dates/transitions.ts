/** The moments at which the offset of a time zone changes. */
import type { TimeZone } from "./time-zone.ts";

export interface Transition {
  atMs: number;
  /** From this moment on. */
  offsetMs: number;
}

/** Transitions are searched for between these moments. */
export const KNOWN_FROM_MS = Date.UTC(1970, 0, 1);
export const KNOWN_TO_MS = Date.UTC(2070, 0, 1);
/** Less than the time between two transitions of any zone. */
const STEP_MS = 14 * 86_400_000;

const cache = new WeakMap<TimeZone, readonly Transition[]>();

/** The transitions of a hundred years from 1970 on, in ascending order. */
export function transitionsOf(zone: TimeZone): readonly Transition[] {
  const before = cache.get(zone);
  if (before) return before;
  const found: Transition[] = [];
  let offset = zone.offsetAt(KNOWN_FROM_MS);
  for (let atMs = KNOWN_FROM_MS; atMs < KNOWN_TO_MS; atMs += STEP_MS) {
    const next = zone.offsetAt(atMs + STEP_MS);
    if (next !== offset) found.push(locate(zone, atMs, atMs + STEP_MS));
    offset = next;
  }
  cache.set(zone, found);
  return found;
}

function locate(zone: TimeZone, fromMs: number, toMs: number): Transition {
  const offsetMs = zone.offsetAt(toMs);
  let before = fromMs;
  let after = toMs;
  while (after - before > 1_000) {
    const middle = Math.floor((before + after) / 2_000) * 1_000;
    if (zone.offsetAt(middle) === offsetMs) after = middle;
    else before = middle;
  }
  return { atMs: after, offsetMs };
}

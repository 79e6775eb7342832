/** When the clocks of a time zone change. */
import type { TimeZone } from "./time-zone.ts";

export interface Transition {
  atMs: number;
  /** From then on. */
  offsetMs: number;
}

/** Changes between these moments are known. */
export const KNOWN_FROM_MS = Date.UTC(1970, 0, 1);
export const KNOWN_TO_MS = Date.UTC(2070, 0, 1);
/** Clocks are never changed twice within it. */
const STEP_MS = 14 * 86_400_000;

const known = new WeakMap<TimeZone, readonly Transition[]>();

/** The transitions of a hundred years from 1970 on, in their order. */
export function transitionsOf(zone: TimeZone): readonly Transition[] {
  const before = known.get(zone);
  if (before) return before;
  const found: Transition[] = [];
  let offset = zone.offsetAt(KNOWN_FROM_MS);
  for (let atMs = KNOWN_FROM_MS; atMs < KNOWN_TO_MS; atMs += STEP_MS) {
    const next = zone.offsetAt(atMs + STEP_MS);
    if (next !== offset) found.push(exact(zone, atMs, atMs + STEP_MS));
    offset = next;
  }
  known.set(zone, found);
  return found;
}

function exact(zone: TimeZone, fromMs: number, toMs: number): Transition {
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

/**
 * Local times rounded down and taken back to moments, across the changes of a zone's clocks.
 * Source: Elasticsearch's `Rounding` and `LocalTimeOffset`, whose three ways of rounding these are.
 */
import type { TimeZone } from "@offhook/log-store/dates/time-zone";
import { transitionsOf } from "@offhook/log-store/dates/transitions";

/** A time during which local clocks are ahead of UTC by the same. */
interface Span {
  /** Its first moment; the first span has none. */
  readonly startMs: number;
  readonly offsetMs: number;
}

/** Where a rounded local time is no moment, or two, or lies before the span that the rounded moment is in. */
export type Strategy = "midnight" | "unit" | "interval";

/** Moments whose rounded moment is another than their own span's clocks say. */
export interface Exception {
  readonly fromMs: number;
  readonly toMs: number;
  readonly roundedMs: number;
}

/** Rounds the moments of one zone. All times in milliseconds. */
export class ZoneRounding {
  readonly #spans: readonly Span[];
  readonly #strategy: Strategy;
  /** The start of the interval that a local time is in. */
  readonly #floor: (localMs: number) => number;
  /** The start of the interval after one that starts at a local time. */
  readonly #step: (localMs: number) => number;

  constructor(
    zone: TimeZone,
    strategy: Strategy,
    floor: (localMs: number) => number,
    step: (localMs: number) => number,
  ) {
    this.#spans = spansOf(zone);
    this.#strategy = strategy;
    this.#floor = floor;
    this.#step = step;
  }

  /** Offsets of the zone, each once. */
  get offsets(): readonly number[] {
    return [...new Set(this.#spans.map(({ offsetMs }) => offsetMs))];
  }

  round(epochMs: number): number {
    const index = this.#indexOf(epochMs);
    return this.#toEpoch(index, this.#floor(epochMs + this.#span(index).offsetMs));
  }

  /** The rounded moment of a rounded local time, of strategy `midnight`: the others need to know which of two it is. */
  momentOf(localMs: number): number {
    return this.#toEpoch(this.#indexOf(localMs + MAX_OFFSET_MS), localMs);
  }

  /** The first rounded moment after one. */
  next(roundedMs: number): number {
    for (let index = this.#indexOf(roundedMs); ; index++) {
      const { startMs, offsetMs } = this.#span(index);
      const begin = Math.max(startMs, roundedMs);
      const first = this.round(begin);
      if (first > roundedMs) return first;
      const local = this.#step(this.#floor(begin + offsetMs));
      const end = this.#spans[index + 1]?.startMs ?? Number.POSITIVE_INFINITY;
      // Later local times than a span's first are its own, but for those that an overlap shows for the second time.
      for (let at = local; at - offsetMs < end; at = this.#step(at)) {
        const moment = this.round(at - offsetMs);
        if (moment > roundedMs) return moment;
      }
    }
  }

  /** In their order, none touching another's moments. Without any, rounding is within each span alone. */
  exceptions(): Exception[] {
    return this.#spans.flatMap(({ startMs, offsetMs }, index) => {
      if (index === 0) return [];
      const local = this.#floor(startMs + offsetMs);
      const roundedMs = this.#toEpoch(index, local);
      if (roundedMs === local - offsetMs) return [];
      const end = this.#spans[index + 1]?.startMs ?? Number.POSITIVE_INFINITY;
      return [{ fromMs: startMs, toMs: Math.min(end, this.#step(local) - offsetMs), roundedMs }];
    });
  }

  #span(index: number): Span {
    return this.#spans[index] ?? FIRST;
  }

  #indexOf(epochMs: number): number {
    let low = 0;
    let high = this.#spans.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#span(middle).startMs <= epochMs) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The moment of a rounded local time of a span, or of one before it. */
  #toEpoch(index: number, localMs: number): number {
    const { startMs, offsetMs } = this.#span(index);
    if (index === 0) return localMs - offsetMs;
    const before = this.#span(index - 1).offsetMs;
    const first = startMs + offsetMs;
    const missing = startMs + before;
    if (localMs >= first) {
      const shownTwice = localMs < missing;
      return shownTwice && this.#strategy === "midnight"
        ? this.#toEpoch(index - 1, localMs)
        : localMs - offsetMs;
    }
    if (this.#strategy === "midnight") {
      return localMs >= missing ? startMs : this.#toEpoch(index - 1, localMs);
    }
    if (offsetMs > before) {
      if (this.#strategy === "unit") return this.#toEpoch(index - 1, this.#floor(missing - 1));
      return localMs >= missing ? startMs : this.#toEpoch(index - 1, localMs);
    }
    // An overlap that begins within an interval.
    if (this.#strategy === "interval") return this.#toEpoch(index - 1, this.#floor(missing - 1));
    return missing - first >= this.#step(localMs) - localMs
      ? localMs - offsetMs
      : this.#toEpoch(index - 1, localMs);
  }
}

const FIRST: Span = { startMs: Number.NEGATIVE_INFINITY, offsetMs: 0 };

/** Local clocks are never further from UTC. */
const MAX_OFFSET_MS = 18 * 3_600_000;

function spansOf(zone: TimeZone): Span[] {
  if (zone.fixedOffsetMs !== undefined) return [{ ...FIRST, offsetMs: zone.fixedOffsetMs }];
  const transitions = transitionsOf(zone);
  const offsetMs = zone.offsetAt((transitions[0]?.atMs ?? 0) - 1);
  return [
    { ...FIRST, offsetMs },
    ...transitions.map((one) => ({ startMs: one.atMs, offsetMs: one.offsetMs })),
  ];
}

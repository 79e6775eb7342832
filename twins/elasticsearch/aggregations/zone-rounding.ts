/**
 * Rounds local times down and converts them back to moments, across a zone's clock changes.
 * Source: Elasticsearch's `Rounding` and `LocalTimeOffset`, with their three strategies.
 */
import type { TimeZone } from "@offhook/log-store/dates/time-zone";
import { transitionsOf } from "@offhook/log-store/dates/transitions";

/** A period of constant offset from UTC. */
interface Span {
  /** Its first moment; `-Infinity` for the first span. */
  readonly startMs: number;
  readonly offsetMs: number;
}

/** How to resolve a rounded local time that does not exist, occurs twice, or lies before the span of the moment. */
export type Strategy = "midnight" | "unit" | "interval";

/** Moments that round to another moment than the offset of their span alone gives. */
export interface Exception {
  readonly fromMs: number;
  readonly toMs: number;
  readonly roundedMs: number;
}

/** Rounds the moments of one zone. All times in milliseconds. */
export class ZoneRounding {
  readonly #spans: readonly Span[];
  readonly #strategy: Strategy;
  /** The start of the interval around a local time. */
  readonly #floor: (localMs: number) => number;
  /** The start of the interval behind the one that starts at a local time. */
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

  /** The distinct offsets of the zone. */
  get offsets(): readonly number[] {
    return [...new Set(this.#spans.map(({ offsetMs }) => offsetMs))];
  }

  round(epochMs: number): number {
    const index = this.#indexOf(epochMs);
    return this.#toEpoch(index, this.#floor(epochMs + this.#span(index).offsetMs));
  }

  /** The moment of a rounded local time. Only for strategy `midnight`: in the others a local time can be two moments. */
  momentOf(localMs: number): number {
    return this.#toEpoch(this.#indexOf(localMs + MAX_OFFSET_MS), localMs);
  }

  /** The next rounded moment. */
  next(roundedMs: number): number {
    for (let index = this.#indexOf(roundedMs); ; index++) {
      const { startMs, offsetMs } = this.#span(index);
      const begin = Math.max(startMs, roundedMs);
      const first = this.round(begin);
      if (first > roundedMs) return first;
      const local = this.#step(this.#floor(begin + offsetMs));
      const end = this.#spans[index + 1]?.startMs ?? Number.POSITIVE_INFINITY;
      // Local times after the span's first belong to the span, except those that an overlap repeats.
      for (let at = local; at - offsetMs < end; at = this.#step(at)) {
        const moment = this.round(at - offsetMs);
        if (moment > roundedMs) return moment;
      }
    }
  }

  /** The exceptions, sorted and disjoint. Without any, each span rounds by its own offset. */
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

  /** The moment of a rounded local time, in the span or an earlier one. */
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
    // The overlap begins inside an interval.
    if (this.#strategy === "interval") return this.#toEpoch(index - 1, this.#floor(missing - 1));
    return missing - first >= this.#step(localMs) - localMs
      ? localMs - offsetMs
      : this.#toEpoch(index - 1, localMs);
  }
}

const FIRST: Span = { startMs: Number.NEGATIVE_INFINITY, offsetMs: 0 };

/** The greatest distance of local clocks from UTC. */
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

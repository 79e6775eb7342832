/** The published rounding algorithm of date histograms, step by step, compared with the twin's statements. */

import { type CalendarUnit, floorTo } from "@offhook/log-store/dates/calendar";
import { findTimeZone, type TimeZone } from "@offhook/log-store/dates/time-zone";
import { transitionsOf } from "@offhook/log-store/dates/transitions";
import { joined, raw, sql } from "@offhook/log-store/sql";
import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import type { LogStore } from "@offhook/log-store/store/log-store";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Options } from "../../aggregations/options.ts";
import { readRounding, roundingMembers } from "../../aggregations/rounding.ts";
import { readDeclared } from "../../aggregations/syntax/declared.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Clocks that change by half an hour, a minute past midnight, at midnight, by a day, or between odd offsets. */
const zones = [
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "America/St_Johns",
  "Asia/Kathmandu",
  "Europe/Berlin",
  "Pacific/Apia",
  "America/Sao_Paulo",
  "Africa/Monrovia",
  "Africa/Casablanca",
  "Asia/Tehran",
  "-03:30",
].map((name) => {
  const zone = findTimeZone(name);
  if (!zone) throw new Error(`this Node knows no zone ${name}`);
  return zone;
});
const units = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"] as const;
const intervals = ["1ms", "7s", "7m", "30m", "1h", "90m", "2h", "5h", "12h", "1d", "9d"];
const intervalMs = (text: string) => {
  const [, count, unit = ""] = /^(\d+)(\w+)$/.exec(text) ?? [];
  const factor = { ms: 1, s: 1000, m: 60_000, h: HOUR_MS, d: DAY_MS }[unit] ?? 0;
  return Number(count) * factor;
};

/** Like Java's `ZoneRules`: the moments of a local time, earliest first. */
function momentsOf(zone: TimeZone, localMs: number): number[] {
  const offsets = new Set([-2, 0, 2].map((days) => zone.offsetAt(localMs + days * DAY_MS)));
  return [...offsets]
    .map((offset) => localMs - offset)
    .filter((moment) => moment + zone.offsetAt(moment) === localMs)
    .sort((a, b) => a - b);
}
function transitions(zone: TimeZone): number[] {
  return zone.fixedOffsetMs === undefined ? transitionsOf(zone).map(({ atMs }) => atMs) : [];
}
function lastTransition(zone: TimeZone, beforeMs: number): number | undefined {
  return transitions(zone).findLast((at) => at < beforeMs);
}
/** The transition whose gap contains a local time. */
function gapOf(zone: TimeZone, localMs: number): number {
  const at = transitions(zone).find(
    (at) => localMs >= at + zone.offsetAt(at - 1) && localMs < at + zone.offsetAt(at),
  );
  if (at === undefined) throw new Error(`${localMs} is in no gap of ${zone.id}`);
  return at;
}

/** `JavaTimeToMidnightRounding` */
function toMidnight(zone: TimeZone, unit: CalendarUnit, at: number): number {
  const local = floorTo(at + zone.offsetAt(at), unit);
  return momentsOf(zone, local)[0] ?? gapOf(zone, local);
}
/** `JavaTimeNotToMidnightRounding` */
function notToMidnight(zone: TimeZone, unit: CalendarUnit, at: number): number {
  for (let moment = at; ; ) {
    const local = floorTo(moment + zone.offsetAt(moment), unit);
    const truncated = momentsOf(zone, local).findLast((one) => one <= moment);
    const previous = lastTransition(zone, moment + 1);
    if (previous === undefined && truncated !== undefined) return truncated;
    if (truncated !== undefined && previous !== undefined && previous <= truncated) return truncated;
    if (previous === undefined) throw new Error("a gap without a transition");
    moment = previous - 1;
  }
}
/** `JavaTimeRounding` */
function toInterval(zone: TimeZone, interval: number, at: number): number {
  for (let moment = at; ; ) {
    const local = Math.floor((moment + zone.offsetAt(moment)) / interval) * interval;
    const candidates = momentsOf(zone, local).reverse();
    if (candidates.length === 0) return gapOf(zone, local);
    const previous = lastTransition(zone, moment + 1);
    // Skips candidates later than the moment; one before the transition restarts the search there.
    const decided = candidates.find((one) => (previous !== undefined && one < previous) || one <= moment);
    if (decided === undefined) throw new Error("it cannot be rounded");
    if (previous === undefined || decided >= previous) return decided;
    moment = previous - 1;
  }
}

const kinds = [
  ...units.map((unit) => ({
    options: { calendar_interval: unit },
    round: (zone: TimeZone, at: number) =>
      unit === "second" || unit === "minute" || unit === "hour"
        ? notToMidnight(zone, unit, at)
        : toMidnight(zone, unit, at),
  })),
  ...intervals.map((interval) => ({
    options: { fixed_interval: interval },
    round: (zone: TimeZone, at: number) => toInterval(zone, intervalMs(interval), at),
  })),
];

/** Moments of fifty years, most of them near a clock change. */
const moments = (zone: TimeZone) => {
  const anywhere = fc.integer({ min: Date.UTC(1975, 0, 1), max: Date.UTC(2040, 0, 1) });
  const changes = transitions(zone);
  const near = fc
    .tuple(fc.constantFrom(...(changes.length > 0 ? changes : [0])), fc.integer({ min: -50, max: 50 }))
    .chain(([change, quarters]) =>
      fc.constantFrom(-1, 0, 1, 59_999).map((more) => change + quarters * 900_000 + more),
    );
  return fc.array(changes.length > 0 ? fc.oneof(anywhere, near, near) : anywhere, {
    minLength: 5,
    maxLength: 15,
  });
};
const cases = fc
  .tuple(fc.constantFrom(...zones), fc.constantFrom(...kinds), fc.constantFrom("", "+15m", "-90m"))
  .chain(([zone, kind, offset]) => moments(zone).map((at) => ({ zone, kind, offset, at })));
const offsetMs: Record<string, number> = { "": 0, "+15m": 900_000, "-90m": -5_400_000 };

describe("rounding in a zone", () => {
  let store: LogStore;
  beforeAll(async () => {
    store = await openLogStore();
  });
  afterAll(() => store.close());

  test("follows the published algorithm, in SQL and for bounds, and steps to exactly the next moment", async () => {
    await fc.assert(
      fc.asyncProperty(cases, async ({ zone, kind, offset, at }) => {
        const moved = offsetMs[offset] ?? 0;
        const json = { ...kind.options, ...(offset && { offset }) };
        const syntax = { members: roundingMembers };
        const options = readDeclared("date_histogram", syntax, json, { path: [], name: "a" });
        const rounding = readRounding(new Options("date_histogram", options), zone);
        const group = rounding.group({ epochMs: raw("x"), timestamp: raw("make_timestamp_ms(x)") });
        const rowsOf = joined(
          at.map((one) => sql`(CAST(${BigInt(one)} AS BIGINT))`),
          ", ",
        );
        const { rows } = await store.query(sql`SELECT x, ${group} FROM (VALUES ${rowsOf}) AS t(x)`);
        const found = rows.map(([x, key]) => [Number(x), rounding.moment(Number(key))]);
        const expected = rows.map(([x]) => [Number(x), kind.round(zone, Number(x) - moved) + moved]);
        expect(found).toEqual(expected);
        for (const one of at) {
          expect(rounding.roundBound(one)).toBe(kind.round(zone, one));
          const start = kind.round(zone, one - moved) + moved;
          const next = rounding.next(start);
          const round = (moment: number) => kind.round(zone, moment - moved) + moved;
          expect([next > start, round(next), round(next - 1)]).toEqual([true, next, start]);
        }
      }),
      { numRuns: 80 },
    );
  });
});

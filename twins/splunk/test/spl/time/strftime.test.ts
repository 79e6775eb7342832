import { sql } from "@offhook/log-store/sql";
import { openLogStore } from "@offhook/log-store/store/duckdb-log-store";
import type { LogStore } from "@offhook/log-store/store/log-store";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formatTime } from "../../../spl/time/strftime.ts";
import { formatTimeSql } from "../../../spl/time/strftime-sql.ts";
import { parseTime } from "../../../spl/time/strptime.ts";
import { zoneOf } from "../../../spl/time/zone-of.ts";

const zones = ["UTC", "America/New_York", "Europe/Paris", "Asia/Kolkata", "+03:30"];
/** Thursday 2026-01-15 09:05:07.000123 in UTC. */
const morning = Date.UTC(2026, 0, 15, 9, 5, 7) / 1000 + 0.000123;
const seconds = fc
  .tuple(fc.integer({ min: -2_000_000_000, max: 3_000_000_000 }), fc.integer({ min: 0, max: 999_999 }))
  .map(([whole, micros]) => whole + micros / 1e6);

describe("rule 28: strftime", () => {
  test.each([
    ["%F %T.%3N", "2026-01-15 09:05:07.000"],
    ["%Y-%m-%dT%H:%M:%S.%Q%:z", "2026-01-15T09:05:07.000+00:00"],
    ["%Q|%3Q|%6Q|%9Q", "000|000|000123|000123000"],
    ["%N|%3N|%6N|%9N|%f", "000123000|000|000123|000123000|000123"],
    ["%e %k %l|%d %H %I", "15  9  9|15 09 09"],
    ["%a %A %b %B %h", "Thu Thursday Jan January Jan"],
    ["%j %U %W %V %G %g %u %w", "015 02 02 03 2026 26 4 4"],
    ["%p %I:%M", "AM 09:05"],
    ["%s", "1768467907"],
    ["%c", "Thu Jan 15 09:05:07 2026"],
    ["%+", "Thu Jan 15 09:05:07 UTC 2026"],
    ["%D %x %X %R", "01/15/26 01/15/2026 09:05:07 09:05"],
    ["%z %:z %::z %:::z %Ez %Z", "+0000 +00:00 +00:00:00 +00 0 UTC"],
    ["%y%%%n%t|%K", "26%\n\t|%K"],
    ["", ""],
  ])("%s", (format, expected) => {
    expect(formatTime(morning, format, zoneOf("UTC"))).toBe(expected);
  });

  test("offsets and names are those of the time zone at that moment", () => {
    const summer = Date.UTC(2026, 6, 1) / 1000;
    const shown = (at: number, zone: string) => formatTime(at, "%H %z %:z %Ez %Z", zoneOf(zone));
    expect(shown(morning, "America/New_York")).toBe("04 -0500 -05:00 -300 EST");
    expect(shown(summer, "America/New_York")).toBe("20 -0400 -04:00 -240 EDT");
    expect(shown(summer, "Europe/Paris")).toBe("02 +0200 +02:00 120 CEST");
    expect(shown(summer, "Asia/Kathmandu")).toBe("05 +0545 +05:45 345 +0545");
  });

  test("outside the years 1 to 9999 there is no text", () => {
    for (const at of [1e12, -1e12, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(formatTime(at, "%F", zoneOf("UTC"))).toBeUndefined();
    }
  });

  test("is what the machine's own calendar says", () => {
    fc.assert(
      fc.property(seconds, fc.constantFrom(...zones.slice(0, 4)), (at, zone) => {
        expect(formatTime(at, "%Y-%m-%d %H:%M:%S %a %b", zoneOf(zone))).toBe(naive(at, zone));
      }),
    );
  });
});

function naive(at: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    weekday: "short",
  });
  const ms = Math.floor(Math.round(at * 1e6) / 1000);
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
  const month = new Intl.DateTimeFormat("en-US", { timeZone, month: "short" }).format(ms);
  const get = (type: Intl.DateTimeFormatPartTypes) => parts.get(type);
  const date = `${get("year")}-${get("month")}-${get("day")}`;
  return `${date} ${get("hour")}:${get("minute")}:${get("second")} ${get("weekday")} ${month}`;
}

describe("strftime in SQL", () => {
  let store: LogStore;
  beforeAll(async () => {
    store = await openLogStore();
  });
  afterAll(() => store.close());

  const variables = [
    ..."aAbBcCdDefFgGHhIjklmMNnpQrRsSTtuUvVwWxXyYzZK%+",
    ":z",
    "::z",
    ":::z",
    "Ez",
    "3N",
    "6Q",
    "9N",
  ];
  const format = fc
    .array(
      fc.oneof(
        fc.constantFrom(...variables).map((name) => `%${name}`),
        fc.constantFrom("-", " ", "T", "é"),
      ),
      {
        maxLength: 6,
      },
    )
    .map((pieces) => pieces.join(""));

  test("says what the program says", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(seconds, { minLength: 1, maxLength: 20 }),
        format,
        fc.constantFrom(...zones),
        async (moments, text, name) => {
          const zone = zoneOf(name);
          const column = sql`CAST(m AS DOUBLE)`;
          const { rows } = await store.query(
            sql`SELECT ${formatTimeSql(column, text, zone)} FROM (SELECT unnest(from_json(${JSON.stringify(moments)}, '["DOUBLE"]')) AS m)`,
          );
          expect(rows.map(([value]) => value)).toEqual(moments.map((at) => formatTime(at, text, zone)));
        },
      ),
      { numRuns: 150 },
    );
  });

  test("has no text for what is no moment", async () => {
    for (const text of ["%F", "%F %s"]) {
      const { rows } = await store.query(
        sql`SELECT ${formatTimeSql(sql`CAST(m AS DOUBLE)`, text, zoneOf("UTC"))} FROM (VALUES (1e15), ('nan'), (NULL), ('-inf')) AS t(m)`,
      );
      expect(rows).toEqual([[null], [null], [null], [null]]);
    }
  });
});

describe("rule 28: strptime", () => {
  const nowMs = Date.UTC(2026, 0, 15, 12);
  const parsed = (text: string, format: string, zone = "UTC") =>
    parseTime(text, format, { zone: zoneOf(zone), nowMs });
  const at = (...parts: [number, number, number, number?, number?, number?]) => Date.UTC(...parts) / 1000;

  test.each([
    ["2026-01-02 03:04:05", "%Y-%m-%d %H:%M:%S", at(2026, 0, 2, 3, 4, 5)],
    ["2026-1-2 3:4:5", "%Y-%m-%d %H:%M:%S", at(2026, 0, 2, 3, 4, 5)],
    ["2026-01-02T03:04:05.678Z", "%FT%T.%3N%Z", at(2026, 0, 2, 3, 4, 5) + 0.678],
    ["2026-01-02T03:04:05.678901", "%FT%T.%6N", at(2026, 0, 2, 3, 4, 5) + 0.678901],
    ["02/Jan/2026:03:04:05 +0200", "%d/%b/%Y:%H:%M:%S %z", at(2026, 0, 2, 1, 4, 5)],
    ["Fri, 02 January 2026 03:04 PM EST", "%a, %d %B %Y %I:%M %p %Z", at(2026, 0, 2, 20, 4)],
    ["1768467907.5", "%s.%N", 1768467907.5],
    ["26032", "%y%j", at(2026, 1, 1)],
    ["13:30", "%H:%M", at(2026, 0, 15, 13, 30)],
    ["Mar 5", "%b %d", at(2026, 2, 5)],
    ["2026-W03-4", "%G-W%V-%u", at(2026, 0, 15)],
    ["2026-01-02 and more", "%Y-%m-%d", at(2026, 0, 2)],
  ])("%s as %s", (text, format, expected) => {
    expect(parsed(text, format)).toBeCloseTo(expected, 6);
  });

  test.each([
    ["yesterday", "%Y-%m-%d"],
    ["2026-02-30", "%Y-%m-%d"],
    ["2026-13-01", "%Y-%m-%d"],
    ["25:00", "%H:%M"],
    ["2026-01", "%Y-%m"],
    ["", "%Y"],
    ["2026-01-02 Nowhere", "%Y-%m-%d %Z"],
  ])("%s is no %s", (text, format) => {
    expect(parsed(text, format)).toBeUndefined();
  });

  test("a text is in the search's time zone unless it says another", () => {
    expect(parsed("2026-07-01 00:00", "%F %H:%M", "Europe/Paris")).toBe(at(2026, 5, 30, 22));
    expect(parsed("2026-07-01 00:00 Z", "%F %H:%M %z", "Europe/Paris")).toBe(at(2026, 6, 1));
  });

  test("reads what strftime has written", () => {
    const formats = [
      "%Y-%m-%d %H:%M:%S.%6N %z",
      "%s.%6N",
      "%a %e %b %Y %I:%M:%S.%f %p %:z",
      "%Y %j %T.%9Q%::z",
    ];
    fc.assert(
      fc.property(seconds, fc.constantFrom(...formats), fc.constantFrom(...zones), (moment, format, zone) => {
        const year = new Date(moment * 1000).getUTCFullYear();
        fc.pre(moment > 0 && year > 1970);
        const text = formatTime(moment, format, zoneOf(zone)) ?? "";
        expect(parsed(text, format, zone)).toBeCloseTo(moment, 5);
      }),
    );
  });
});

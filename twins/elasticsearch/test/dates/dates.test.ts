import { describe, expect, test } from "vitest";
import { parseDate } from "../../dates/date-math.ts";
import { formatDate, parseWithPattern } from "../../dates/java-format.ts";
import { readTimeZone } from "../../dates/read-time-zone.ts";
import { VendorError } from "../../vendor/error.ts";

const nowMs = Date.parse("2026-03-15T10:30:45.678Z");
const first = { nowMs, rounding: "first" } as const;
const last = { nowMs, rounding: "last" } as const;
const iso = (epochMs: number | undefined) =>
  epochMs === undefined ? undefined : new Date(epochMs).toISOString();

test.each([
  [8.64e15 + 1, "strict_date_optional_time", "+275760-09-13T00:00:00.001Z"],
  [2 ** 60, "strict_date_optional_time", "+36536598-01-28T21:54:06.976Z"],
  [-(2 ** 60), "strict_date_optional_time", "-36532659-12-03T02:05:53.024Z"],
  [1e300, "strict_date_optional_time", "+292278994-08-17T07:12:55.807Z"],
  [1e300, "epoch_millis", "9223372036854775807"],
  [Number.NaN, "strict_date_optional_time", "1970-01-01T00:00:00.000Z"],
  [-1.5, "strict_date_optional_time", "1969-12-31T23:59:59.999Z"],
])("%d milliseconds are shown as Java shows the long of them: %s", (epochMs, format, shown) => {
  expect(formatDate(epochMs, format)).toBe(shown);
});

describe("date math", () => {
  test.each([
    ["now", "2026-03-15T10:30:45.678Z", "2026-03-15T10:30:45.678Z"],
    ["now-1d/d", "2026-03-14T00:00:00.000Z", "2026-03-14T23:59:59.999Z"],
    ["now/w", "2026-03-09T00:00:00.000Z", "2026-03-15T23:59:59.999Z"],
    ["now-1M+2h", "2026-02-15T12:30:45.678Z", "2026-02-15T12:30:45.678Z"],
    ["now/y", "2026-01-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z"],
    ["2026-01-31||+1M/d", "2026-02-28T00:00:00.000Z", "2026-02-28T23:59:59.999Z"],
    ["2026-01-31", "2026-01-31T00:00:00.000Z", "2026-01-31T23:59:59.999Z"],
    ["2026", "2026-01-01T00:00:00.000Z", "2026-01-01T23:59:59.999Z"],
    ["2026-01-31T10", "2026-01-31T10:00:00.000Z", "2026-01-31T10:59:59.999Z"],
    ["2026-01-31T10:00:00Z", "2026-01-31T10:00:00.000Z", "2026-01-31T10:00:00.999Z"],
    ["2026-01-31T10:00:00.123456789+02:00", "2026-01-31T08:00:00.123Z", "2026-01-31T08:00:00.123Z"],
    ["1769850000000", "2026-01-31T09:00:00.000Z", "2026-01-31T09:00:00.000Z"],
  ])("%s is %s, or at the last %s", (text, lower, upper) => {
    expect(iso(parseDate(text, first))).toBe(lower);
    expect(iso(parseDate(text, last))).toBe(upper);
  });

  test("the zone applies to rounding, and to dates without one", () => {
    expect(iso(parseDate("2026-07-01", { ...first, timeZone: "Europe/Paris" }))).toBe(
      "2026-06-30T22:00:00.000Z",
    );
    expect(iso(parseDate("2026-07-01T00:00:00Z", { ...first, timeZone: "+02:00" }))).toBe(
      "2026-07-01T00:00:00.000Z",
    );
    expect(iso(parseDate("now/d", { ...first, timeZone: "-11:00" }))).toBe("2026-03-14T11:00:00.000Z");
  });

  test("days are calendar days, hours are sixty minutes", () => {
    const zone = { ...first, timeZone: "Europe/Paris" };
    expect(iso(parseDate("2026-03-28T12:00||+1d", zone))).toBe("2026-03-29T10:00:00.000Z");
    expect(iso(parseDate("2026-03-28T12:00||+24h", zone))).toBe("2026-03-29T11:00:00.000Z");
  });

  test.each([
    ["now*1d", "operator not supported for date math [*1d]"],
    ["now+1", "truncated date math [+1]"],
    ["now/2d", "rounding `/` can only be used on single unit types [/2d]"],
    ["now+1x", "unit [x] not supported for date math [+1x]"],
    [
      "soon",
      "failed to parse date field [soon] with format [strict_date_optional_time||epoch_millis]: " +
        "[failed to parse date field [soon] with format [strict_date_optional_time||epoch_millis]]",
    ],
  ])("%s is refused in the vendor's words", (text, reason) => {
    expect(() => parseDate(text, first)).toThrow(
      expect.objectContaining({
        status: 400,
        message: reason,
        cause: expect.objectContaining({ type: "parse_exception" }),
      }),
    );
  });

  test("a day that does not exist is refused", () => {
    expect(() => parseDate("2026-02-29", first)).toThrow(VendorError);
    expect(() => parseDate("2026-13-01", first)).toThrow(VendorError);
  });
});

describe("time zones", () => {
  test("a skipped local time moves later, a repeated one is the first", () => {
    const paris = readTimeZone("Europe/Paris");
    expect(iso(paris.toEpoch(Date.UTC(2026, 2, 29, 2, 30)))).toBe("2026-03-29T01:30:00.000Z");
    expect(iso(paris.toEpoch(Date.UTC(2026, 9, 25, 2, 30)))).toBe("2026-10-25T00:30:00.000Z");
  });

  test.each(["Z", "UTC", "+02:00", "-05", "+0530", "UTC+1", "GMT-3", "Asia/Kathmandu"])(
    "%s is a zone",
    (name) => {
      expect(readTimeZone(name).offsetAt(0)).toBeTypeOf("number");
    },
  );

  test.each(["Mars/Base", "+25:00", "", "x; DROP"])("%s is none", (name) => {
    expect(() => readTimeZone(name)).toThrow(VendorError);
  });
});

describe("Java formats", () => {
  const moment = Date.parse("2026-03-05T07:08:09.012Z");

  test.each([
    ["yyyy-MM-dd HH:mm:ss", "2026-03-05 07:08:09"],
    ["yy/M/d h:m a", "26/3/5 7:8 AM"],
    ["EEE, dd MMM yyyy HH:mm:ss Z", "Thu, 05 Mar 2026 07:08:09 +0000"],
    ["EEEE d MMMM uuuu", "Thursday 5 March 2026"],
    ["YYYY-'W'ww-e", "2026-W10-4"],
    ["yyyy-DDD", "2026-064"],
    ["'it''s' QQQ", "it's Q1"],
    ["strict_date_optional_time", "2026-03-05T07:08:09.012Z"],
    ["epoch_millis", String(moment)],
    ["epoch_second", "1772694489.012"],
    ["basic_date", "20260305"],
    ["basic_date_time_no_millis", "20260305T070809Z"],
    ["date_hour_minute_second", "2026-03-05T07:08:09"],
    ["week_date", "2026-W10-4"],
    ["HH:mm||epoch_millis", "07:08"],
  ])("%s prints %s", (pattern, text) => {
    expect(formatDate(moment, pattern)).toBe(text);
  });

  test.each([
    ["2026-03-05 07:08:09", "yyyy-MM-dd HH:mm:ss", "2026-03-05T07:08:09.000Z"],
    ["20260305", "yyyyMMdd", "2026-03-05T00:00:00.000Z"],
    ["20260305070809123", "yyyyMMddHHmmssSSS", "2026-03-05T07:08:09.123Z"],
    ["05/Mar/2026:07:08:09 +0200", "dd/MMM/yyyy:HH:mm:ss Z", "2026-03-05T05:08:09.000Z"],
    ["5/3/26", "d/M/yy", "2026-03-05T00:00:00.000Z"],
    ["12:30 PM", "h:mm a", "1970-01-01T12:30:00.000Z"],
    ["2026-W10-4", "week_date", "2026-03-05T00:00:00.000Z"],
    ["2026-064", "ordinal_date", "2026-03-05T00:00:00.000Z"],
    ["20260305T070809.5Z", "basic_date_time", "2026-03-05T07:08:09.500Z"],
    ["1772694489.012", "epoch_second", "2026-03-05T07:08:09.012Z"],
    ["2026-3-5T7:8", "date_optional_time", "2026-03-05T07:08:00.000Z"],
    ["2026-02-31", "yyyy-MM-dd", "2026-02-28T00:00:00.000Z"],
    ["2026-3-5", "strict_date", undefined],
    ["2026-02-31", "strict_date", undefined],
    ["2026-03-05 ", "yyyy-MM-dd", undefined],
  ])("%s is read by %s as %s", (text, pattern, expected) => {
    expect(iso(parseWithPattern(text, pattern))).toBe(expected);
  });

  test.each([
    ["yyyy-bb", "Invalid format: [yyyy-bb]: Unknown pattern letter: b"],
    ["'open", "Invalid format: ['open]: Pattern ends with an incomplete string literal: 'open"],
    ["ddd", "Invalid format: [ddd]: Too many pattern letters: d"],
  ])("%s is no format", (pattern, reason) => {
    expect(() => formatDate(0, pattern)).toThrow(reason);
  });
});

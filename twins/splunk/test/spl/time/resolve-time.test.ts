import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InvalidTime, resolveTime } from "../../../spl/time/resolve-time.ts";

/** Thursday 2026-01-15 12:30:15.250 in UTC. */
const nowMs = Date.UTC(2026, 0, 15, 12, 30, 15, 250);

function resolved(text: string, timeZone = "UTC", from = nowMs): string {
  return new Date(resolveTime(text, { nowMs: from, timeZone })).toISOString();
}

describe("rule 68: relative times", () => {
  test.each([
    ["-1h@h", "2026-01-15T11:00:00.000Z"],
    ["-h@h", "2026-01-15T11:00:00.000Z"],
    ["-24h", "2026-01-14T12:30:15.250Z"],
    ["@d", "2026-01-15T00:00:00.000Z"],
    ["-1d@d", "2026-01-14T00:00:00.000Z"],
    ["+7d@d", "2026-01-22T00:00:00.000Z"],
    ["@d+3h", "2026-01-15T03:00:00.000Z"],
    ["-1d@d-2h+30m", "2026-01-13T22:30:00.000Z"],
    ["@w", "2026-01-11T00:00:00.000Z"],
    ["@w0", "2026-01-11T00:00:00.000Z"],
    ["@w7", "2026-01-11T00:00:00.000Z"],
    ["@w1", "2026-01-12T00:00:00.000Z"],
    ["@w4", "2026-01-15T00:00:00.000Z"],
    ["@w5", "2026-01-09T00:00:00.000Z"],
    ["-1w@w1", "2026-01-05T00:00:00.000Z"],
    ["-5m@m", "2026-01-15T12:25:00.000Z"],
    ["-5min@min", "2026-01-15T12:25:00.000Z"],
    ["-1mon@mon", "2025-12-01T00:00:00.000Z"],
    ["-2months", "2025-11-15T12:30:15.250Z"],
    ["@q", "2026-01-01T00:00:00.000Z"],
    ["-1q@q", "2025-10-01T00:00:00.000Z"],
    ["-1qtr@qtr", "2025-10-01T00:00:00.000Z"],
    ["@y", "2026-01-01T00:00:00.000Z"],
    ["-1y@y", "2025-01-01T00:00:00.000Z"],
    ["-500ms", "2026-01-15T12:30:14.750Z"],
    ["@s", "2026-01-15T12:30:15.000Z"],
    ["-1D@D", "2026-01-14T00:00:00.000Z"],
  ])("%s", (text, expected) => {
    expect(resolved(text)).toBe(expected);
  });

  test("snaps downwards, after the offset", () => {
    expect(resolved("-90m@h")).toBe("2026-01-15T11:00:00.000Z");
  });

  test("a day that the month does not have becomes its last", () => {
    expect(resolved("-1mon", "UTC", Date.UTC(2026, 2, 31, 8))).toBe("2026-02-28T08:00:00.000Z");
  });

  test("days and weeks are those of the time zone, whatever its clocks do", () => {
    expect(resolved("@d", "America/New_York")).toBe("2026-01-15T05:00:00.000Z");
    const afterChange = Date.UTC(2026, 2, 9, 16);
    expect(resolved("-1d", "America/New_York", afterChange)).toBe("2026-03-08T16:00:00.000Z");
    expect(resolved("-2d", "America/New_York", afterChange)).toBe("2026-03-07T17:00:00.000Z");
    expect(resolved("-48h", "America/New_York", afterChange)).toBe("2026-03-07T16:00:00.000Z");
    expect(resolved("@h", "Asia/Kolkata", Date.UTC(2026, 0, 1, 0, 45))).toBe("2026-01-01T00:30:00.000Z");
  });

  test.each(["-1x", "@", "-", "1h", "@w8", "@d7", "-1h@", "yesterday", "-1h@h junk", "2026-13-01", "@mon3"])(
    "%s is no time",
    (text) => {
      expect(() => resolveTime(text, { nowMs, timeZone: "UTC" })).toThrow(InvalidTime);
    },
  );

  test("seconds that are beyond every date are no time", () => {
    for (const text of ["99999999999999999999", "-8640000000001"]) {
      expect(() => resolveTime(text, { nowMs, timeZone: "UTC" })).toThrow(InvalidTime);
    }
    expect(resolveTime("8640000000000", { nowMs, timeZone: "UTC" })).toBe(8.64e15);
  });

  test("a real-time window is refused, and says so", () => {
    for (const text of ["rt", "rt-5m", "rtnow"]) {
      expect(() => resolveTime(text, { nowMs, timeZone: "UTC" })).toThrow(
        "Real-time searches are not served",
      );
    }
  });

  test("whatever is asked, an answer or InvalidTime comes", () => {
    const piece = fc.constantFrom(
      "-",
      "+",
      "@",
      "1",
      "99999999999",
      "d",
      "w1",
      "mon",
      "y",
      "h",
      " ",
      "rt",
      ":",
      ".",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        try {
          expect(Number.isFinite(resolveTime(pieces.join(""), { nowMs, timeZone: "Europe/Paris" }))).toBe(
            true,
          );
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidTime);
        }
      }),
    );
  });
});

describe("rule 69: absolute times", () => {
  test.each([
    ["now", "2026-01-15T12:30:15.250Z"],
    ["now()", "2026-01-15T12:30:15.250Z"],
    ["0", "1970-01-01T00:00:00.000Z"],
    ["1", "1970-01-01T00:00:01.000Z"],
    ["1433188255.5", "2015-06-01T19:50:55.500Z"],
    ["10/27/2025:13:05:07", "2025-10-27T13:05:07.000Z"],
    ["1/5/2026:0:0:0", "2026-01-05T00:00:00.000Z"],
    ["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"],
    ["2026-01-02T03:04:05.678+02:00", "2026-01-02T01:04:05.678Z"],
    ["2026-01-02T03:04:05", "2026-01-02T03:04:05.000Z"],
    ["2026-01-02", "2026-01-02T00:00:00.000Z"],
  ])("%s", (text, expected) => {
    expect(resolved(text)).toBe(expected);
  });

  test("are of the time zone, unless they say another", () => {
    expect(resolved("10/27/2025:13:05:07", "Europe/Paris")).toBe("2025-10-27T12:05:07.000Z");
    expect(resolved("2026-01-02T03:04:05Z", "Europe/Paris")).toBe("2026-01-02T03:04:05.000Z");
  });

  test("can be in a form of the request's own", () => {
    const options = { nowMs, timeZone: "UTC", format: "%d.%m.%Y %H.%M" };
    expect(resolveTime("02.01.2026 03.04", options)).toBe(Date.UTC(2026, 0, 2, 3, 4));
    expect(resolveTime("-1d@d", options)).toBe(Date.UTC(2026, 0, 14));
  });
});

import { describe, expect, test } from "vitest";
import { ingested, typesOf } from "../../testing/ingested.ts";

/** One column of these values: its type, what the rows hold, and how the events spell them. */
async function column(values: readonly string[], name = "value") {
  const quoted = values.map((value) => `"${value.replaceAll('"', '""')}",x\n`);
  const result = await ingested(`${name},other\n${quoted.join("")}`);
  const [described] = result.description.columns;
  return {
    type: described?.type,
    note: described?.note,
    values: result.rows.map((row) => row[name]),
    events: result.sources.map((source) => source.replace(/,?"other":"x"/, "")),
    timeField: result.description.time_field,
  };
}

/** Many columns of one dataset, by name; a shorter one has no values at its end. */
async function columns(cases: readonly (readonly [name: string, values: readonly string[]])[]) {
  const rows = Math.max(...cases.map(([, values]) => values.length));
  const quoted = (text = "") => `"${text.replaceAll('"', '""')}"`;
  const lines = Array.from({ length: rows }, (_, row) =>
    cases.map(([, values]) => quoted(values[row])).join(),
  );
  const result = await ingested(`${cases.map(([name]) => quoted(name)).join()}\n${lines.join("\n")}\n`);
  const types = typesOf(result);
  return new Map(
    cases.map(([name, { length }]) => [
      name,
      {
        type: types[name],
        values: result.rows.slice(0, length).map((row) => row[name]),
        events: result.sources.slice(0, length).map((source) => JSON.parse(source)[name]),
      },
    ]),
  );
}

/** What is made at the first question and kept for the others. */
function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

describe("the type of a column is what every row has", () => {
  test.each([
    ["boolean", ["true", "False", "TRUE"], [true, false, true]],
    ["long", ["0", "-1", "9223372036854775807"], ["0", "-1", "9223372036854775807"]],
    ["unsigned_long", ["1", "18446744073709551615"], ["1", "18446744073709551615"]],
    ["double", ["1", "2.50", "1e-7", "0.1234567890123456", "-0"], [1, 2.5, 1e-7, 0.1234567890123456, -0]],
    ["date", ["2024-01-31T09:00:00Z", "2024-01-31"], ["2024-01-31 09:00:00", "2024-01-31 00:00:00"]],
  ])("%s", async (type, values, expected) => {
    const result = await column(values);
    expect(result.type).toBe(type);
    expect(result.values).toEqual(expected);
  });

  const texts: [string, string[]][] = [
    ["leading zeros", ["007", "8"]],
    ["a plus", ["+1", "2"]],
    ["one word among numbers", ["1", "2", "none"]],
    ["more digits than a double keeps", ["0.12345678901234567890", "1.5"]],
    ["an integer beyond 64 bits", ["18446744073709551616", "1"]],
    ["an integer and a fraction that no type holds both", ["9007199254740993", "1.5"]],
    ["a number that is too large", ["1e400", "1"]],
    ["a number that is too small", ["1e-400", "1"]],
    ["NaN", ["NaN", "1"]],
    ["a space", [" 1", "2"]],
    ["an underscore", ["1_000", "2"]],
    ["a day that is not", ["2024-02-30", "2024-02-01"]],
    ["a date and a word", ["2024-02-01", "yesterday"]],
    ["booleans and numbers", ["true", "1"]],
  ];
  const asText = once(() => columns(texts));
  test.each(texts)("else it is text, every value as it was spelled: %s", async (name, values) => {
    expect((await asText()).get(name)).toEqual({ type: "text", values, events: values });
  });

  test("the last of many rows counts as much as the first", async () => {
    const numbers = Array.from({ length: 5000 }, (_, index) => String(index));
    expect((await column(numbers)).type).toBe("long");
    expect((await column([...numbers, "2.5"])).type).toBe("double");
    expect((await column([...numbers, "x"])).type).toBe("text");
    expect((await column([...numbers.map(() => ""), "2024-01-31"])).type).toBe("date");
  });

  test("numbers stand in the event as they were spelled", async () => {
    expect((await column(["1.50", "-0", "1E3"])).events).toEqual([
      '{"value":1.50}',
      '{"value":-0}',
      '{"value":1E3}',
    ]);
    expect((await column(["True", "false"])).events).toEqual(['{"value":true}', '{"value":false}']);
  });

  test("a column without values is text, and says so", async () => {
    expect(await column(["", ""])).toMatchObject({ type: "text", note: "no row has a value" });
  });
});

describe("in NDJSON a string is no number", () => {
  test("and a field of both keeps both, as text", async () => {
    const result = await ingested('{"a":1.0,"b":"1","c":true}\n{"a":"x","b":"2","c":"true"}\n');
    expect(typesOf(result)).toEqual({ a: "text", b: "text", c: "text" });
    expect(result.rows).toEqual([
      { a: "1.0", b: "1", c: "true" },
      { a: "x", b: "2", c: "true" },
    ]);
    expect(result.description.columns[0]?.note).toBe("its values are text and numbers, so they stay text");
  });

  test("but it may be a date", async () => {
    const result = await ingested('{"a":["2024-01-31T09:00:00+02:00","2024-02-01"]}\n');
    expect(typesOf(result)).toEqual({ a: "date[]" });
    expect(result.rows).toEqual([{ a: ["2024-01-31 07:00:00", "2024-02-01 00:00:00"] }]);
  });
});

describe("dates", () => {
  const dates: [string, string, string][] = [
    ["ISO 8601", "2024-01-31T09:08:07.123456Z", "2024-01-31 09:08:07.123456"],
    ["with nanoseconds, to the microsecond", "2024-01-31T09:08:07.123456789Z", "2024-01-31 09:08:07.123456"],
    ["with an offset", "2024-01-31T09:08:07+05:30", "2024-01-31 03:38:07"],
    ["with an offset without a colon", "2024-01-31T09:08:07.000-0800", "2024-01-31 17:08:07"],
    ["without a zone: UTC", "2024-01-31T09:08:07", "2024-01-31 09:08:07"],
    ["with a space and a comma", "2024-01-31 09:08:07,123", "2024-01-31 09:08:07.123"],
    ["with a space before the offset", "2024-01-31 09:08:07 +0100", "2024-01-31 08:08:07"],
    ["with UTC by name", "2024-01-31 09:08:07.5 UTC", "2024-01-31 09:08:07.5"],
    ["without seconds", "2024-01-31T09:08Z", "2024-01-31 09:08:00"],
    ["with slashes, year first", "2024/01/31 09:08:07", "2024-01-31 09:08:07"],
    ["basic", "20240131T090807Z", "2024-01-31 09:08:07"],
    ["common log format", "[31/Jan/2024:09:08:07 +0200]", "2024-01-31 07:08:07"],
    ["RFC 2822", "Wed, 31 Jan 2024 09:08:07 -0500", "2024-01-31 14:08:07"],
    ["RFC 2822 with GMT", "31 Jan 2024 09:08:07 GMT", "2024-01-31 09:08:07"],
    ["asctime", "[Wed Jan 31 09:08:07.654321 2024]", "2024-01-31 09:08:07.654321"],
    ["syslog with a year", "Jan  3 2024 09:08:07", "2024-01-03 09:08:07"],
    ["syslog, year first", "2024 Jan 31 09:08:07", "2024-01-31 09:08:07"],
    ["day first, as no month is the 31st", "31.01.2024 09:08", "2024-01-31 09:08:00"],
    ["month first, as no month is the 31st", "1/31/2024 9:08:07 PM", "2024-01-31 21:08:07"],
  ];
  const asDates = once(() => columns(dates.map(([name, text]) => [name, [text]])));
  test.each(dates)("%s: %s", async (name, text, expected) => {
    expect((await asDates()).get(name)).toEqual({ type: "date", values: [expected], events: [text] });
  });

  test("the only column that is a date is the time", async () => {
    expect(await column(["2024-01-31T09:08:07Z"])).toMatchObject({ type: "date", timeField: "value" });
  });

  test.each([
    ["seconds", "1706692087", "2024-01-31 09:08:07"],
    ["seconds with a fraction", "1706692087.125", "2024-01-31 09:08:07.125"],
    ["milliseconds", "1706692087125", "2024-01-31 09:08:07.125"],
    ["microseconds", "1706692087125456", "2024-01-31 09:08:07.125456"],
    ["nanoseconds", "1706692087125456789", "2024-01-31 09:08:07.125456"],
  ])("a number in a column named as a time counts since 1970: %s", async (_name, text, expected) => {
    const result = await column([text], "ts");
    expect(result).toMatchObject({
      type: "date",
      timeField: "ts",
      values: [expected],
      events: [`{"ts":${text}}`],
    });
    expect((await column([text])).type).not.toBe("date");
    const event = await ingested(`{"ts":${text}}\n`);
    expect(event.rows).toEqual([{ ts: expected }]);
  });

  test("a number in a column named as a time that is none stays a number", async () => {
    expect((await column(["1706692087", "12"], "ts")).type).toBe("long");
    expect((await column(["1706692087", "1706692087125"], "ts")).type).toBe("long");
  });

  test("digits of a date are no count of milliseconds", async () => {
    expect((await column(["20240131090807"], "time")).values).toEqual(["2024-01-31 09:08:07"]);
  });

  test("day or month first is decided by the whole column, never by a row", async () => {
    const days = ["01/02/2024", "03/04/2024", "13/04/2024"];
    expect(await column(days)).toMatchObject({
      type: "date",
      note: "day first",
      values: ["2024-02-01 00:00:00", "2024-04-03 00:00:00", "2024-04-13 00:00:00"],
    });
    const months = ["01/02/2024", "03/04/2024", "04/13/2024"];
    expect(await column(months)).toMatchObject({
      type: "date",
      note: "month first",
      values: ["2024-01-02 00:00:00", "2024-03-04 00:00:00", "2024-04-13 00:00:00"],
    });
  });

  test("a column that could be either, or would need both, is text", async () => {
    const either = await column(["01/02/2024", "03/04/2024"]);
    expect(either).toMatchObject({
      type: "text",
      note: "every value is a date with the day first and with the month first, so it stays text",
      values: ["01/02/2024", "03/04/2024"],
      timeField: null,
    });
    expect((await column(["13/02/2024", "02/13/2024"])).type).toBe("text");
  });
});

describe("the time field", () => {
  test("is the first usual name that is a date", async () => {
    const date = "2024-01-31";
    const timeOf = async (header: string) => {
      const row = header.split(",").map(() => date);
      return (await ingested(`${header}\n${row.join(",")}\n`)).description.time_field;
    };
    expect(await timeOf("date,@timestamp,_time")).toBe("_time");
    expect(await timeOf("date,timestamp,@timestamp")).toBe("@timestamp");
    expect(await timeOf("a,Timestamp")).toBe("Timestamp");
    expect(await timeOf("a,b")).toBe(null);
    expect(await timeOf("a")).toBe("a");
  });

  test("is not one whose values are no dates", async () => {
    const { description } = await ingested("_time,ts\nsoon,2024-01-31\nnow,2024-02-01\n");
    expect(description.time_field).toBe("ts");
    expect(description.time_range).toEqual({
      from: "2024-01-31T00:00:00.000Z",
      to: "2024-02-01T00:00:00.000Z",
    });
  });
});

describe("times that exports write", () => {
  test.each([
    ["Kibana's", "Mar 2, 2026 @ 10:00:00.123", "2026-03-02 10:00:00.123"],
    ["date(1)'s", "Mon Mar  2 10:00:00 UTC 2026", "2026-03-02 10:00:00"],
    ["git's", "Mon Mar 2 10:00:00 2026 +0100", "2026-03-02 09:00:00"],
    ["Java's", "Mar 2, 2026 10:00:00 PM", "2026-03-02 22:00:00"],
    ["a month by name, without a zone", "02-Mar-2026 10:00:00.5", "2026-03-02 10:00:00.5"],
    ["dots, where the day comes first", "02.03.2026 10:00", "2026-03-02 10:00:00"],
  ])("%s", async (_name, text, expected) => {
    expect(await column([text])).toMatchObject({
      type: "date",
      values: [expected],
      events: [JSON.stringify({ value: text })],
    });
  });

  test("in NDJSON a count since 1970 may be a text, or now and then one", async () => {
    const both = await ingested('{"_time":"1772445600.123"}\n{"_time":1772445600}\n');
    expect(both.rows).toEqual([{ _time: "2026-03-02 10:00:00.123" }, { _time: "2026-03-02 10:00:00" }]);
    const other = await ingested('{"count":"1772445600"}\n');
    expect(typesOf(other)).toEqual({ count: "text" });
  });

  test("a dash, an empty text and the like among them stand for no time, and stay in the event", async () => {
    const values = ["2026-03-02T10:00:00Z", "-", "N/A"];
    const csv = await column(values, "ended");
    expect(csv).toMatchObject({ type: "date", values: ["2026-03-02 10:00:00", null, null] });
    expect(csv.events.map((event) => JSON.parse(event).ended)).toEqual(values);
    const counted = await column(["1772445600", "-"], "ts");
    expect(counted).toMatchObject({ type: "date", values: ["2026-03-02 10:00:00", null] });
    expect(counted.events).toEqual(['{"ts":1772445600}', '{"ts":"-"}']);
    const lists = await ingested('{"at":["2026-03-02","-"]}\n{"at":""}\n{"at":"2026-03-03"}\n');
    expect(lists.rows).toEqual([
      { at: ["2026-03-02 00:00:00"] },
      { at: null },
      { at: ["2026-03-03 00:00:00"] },
    ]);
  });

  test("a dash everywhere is no time, wherever the first time stands", async () => {
    expect((await column(["-", "-"], "ended")).type).toBe("text");
    const late = [...Array.from({ length: 400 }, () => "-"), "2026-03-02"];
    expect((await column(late, "ended")).type).toBe("date");
    expect((await column([...late, "soon"], "ended")).type).toBe("text");
  });
});

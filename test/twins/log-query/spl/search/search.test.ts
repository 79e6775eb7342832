import { afterAll, beforeAll, expect, test } from "vitest";
import { type SplBench, splBench } from "../../support/spl.ts";

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench([
    { n: 1, "@timestamp": "2026-01-15T10:00:00Z", level: "ERROR", status: 500, user: { name: "Ada" } },
    { n: 2, "@timestamp": "2026-01-15T11:00:00Z", level: "info", status: 200, ip: "10.1.2.3" },
    { n: 3, "@timestamp": "2026-01-15T09:00:00.250Z", level: "", tags: ["red", "Blue"], ok: true },
    { n: 4, "@timestamp": "2026-01-15T11:00:00Z", host: "web-1", _raw: "err=5 path=/var/log/foo error_code" },
  ]);
});
afterAll(() => bench.close());

const found = async (text: string) => (await bench.search(`search ${text}`)).rows.map(({ n }) => n);

test("rule 52: raw events come newest first, and head takes the newest", async () => {
  expect(await found("*")).toEqual([4, 2, 1, 3]);
  expect(await found("* | head 2")).toEqual([4, 2]);
});

test("rule 70: _time is seconds since the epoch, with a fraction", async () => {
  const { rows } = await bench.search("search n=3");
  expect(rows[0]).toMatchObject({ _time: 1768467600.25, _indextime: 1768467600 });
});

test("rule 71: every event has the default fields", async () => {
  const { rows, fields } = await bench.search("search n<3");
  expect(rows[1]).toMatchObject({
    _raw: `{"n":1,"@timestamp":"2026-01-15T10:00:00Z","level":"ERROR","status":500,"user":{"name":"Ada"}}`,
    "@timestamp": "2026-01-15T10:00:00Z",
    host: "splunk",
    source: "dataset",
    sourcetype: "_json",
    index: "main",
    splunk_server: "splunk",
    linecount: 1,
    punct: '{"":,"@":"::","":"","":,"":{""',
    date_hour: 10,
    date_mday: 15,
    date_minute: 0,
    date_month: "january",
    date_second: 0,
    date_wday: "thursday",
    date_year: 2026,
    date_zone: 0,
    timestartpos: 21,
    timeendpos: 41,
    "user.name": "Ada",
  });
  expect(fields).toEqual([...fields].sort());
  const own = await bench.search("search host=web-1");
  expect(own.rows).toMatchObject([{ n: 4, host: "web-1", _raw: "err=5 path=/var/log/foo error_code" }]);
});

test("rule 4: != finds those alone that have the field, NOT finds the others too", async () => {
  expect(await found("level!=error")).toEqual([2, 3]);
  expect(await found("NOT level=error")).toEqual([4, 2, 3]);
});

test("rule 5: field=* means that there is one, and an empty value is one", async () => {
  expect(await found("level=*")).toEqual([2, 1, 3]);
  expect(await found("NOT level=*")).toEqual([4]);
  expect(await found('level=""')).toEqual([3]);
});

test("rule 7: values compare whatever their case, names of fields do not", async () => {
  expect(await found("level=error")).toEqual([1]);
  expect(await found("Level=error")).toEqual([]);
  expect(await found("level=CASE(error)")).toEqual([]);
});

test("rule 8: terms are found in the text by its segments", async () => {
  expect(await found("err")).toEqual([4]);
  expect(await found("error")).toEqual([4, 1]);
  expect(await found("errorx")).toEqual([]);
  expect(await found("var log")).toEqual([4]);
  expect(await found("err*")).toEqual([4, 1]);
});

test("rule 10: orders are of numbers where both sides are numbers, else of texts", async () => {
  expect(await found("status>=300")).toEqual([1]);
  expect(await found("level>e")).toEqual([2, 1]);
});

test("rule 11: a range of addresses finds those in it", async () => {
  expect(await found("ip=10.0.0.0/8")).toEqual([2]);
  expect(await found("ip=10.2.0.0/16")).toEqual([]);
});

test("rule 30: one value of a multi-value is enough", async () => {
  expect(await found("tags=blue")).toEqual([3]);
  expect(await found("tags{}=red")).toEqual([3]);
  expect(await found("tags!=red")).toEqual([3]);
});

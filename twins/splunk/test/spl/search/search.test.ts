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

test("rule 71: punct is the first thirty marks of the first line, wherever they stand", async () => {
  const long = "word ".repeat(40);
  const lines = [
    "a-b -c\td, e; (f) é/ü\nsecond, line",
    `${long}a-b: -c`,
    `${"x".repeat(127)}-y--z`,
    `${"é".repeat(127)}-y`,
    `${"x".repeat(127)}\n, next`,
    `${"a.".repeat(200)}`,
  ];
  const punctuated = await splBench(lines.map((_raw, n) => ({ n, _raw })));
  try {
    const { rows } = await punctuated.search("search * | sort n | table punct");
    expect(rows.map(({ punct }) => punct)).toEqual([
      "_-t,_;_()_/",
      "_".repeat(30),
      "-",
      "-",
      "",
      ".".repeat(30),
    ]);
  } finally {
    await punctuated.close();
  }
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

test("rule 5: field!=* finds nothing, for each type of field", async () => {
  for (const field of ["status", "level", "tags", "ok", "nowhere"]) {
    expect(await found(`${field}!=*`)).toEqual([]);
    expect(await found(`NOT (${field}=* OR NOT ${field}=*)`)).toEqual([]);
    expect((await found(`NOT ${field}!=*`)).length).toBe(4);
  }
});

test("rule 72: a.b{} names what is in a list of JSON, in commands too", async () => {
  const { fields, rows } = await bench.search("search n=3 | table n tags{}");
  expect([fields, rows]).toEqual([["n", "tags{}"], [{ n: 3, "tags{}": ["red", "Blue"] }]]);
  const last = async (text: string) => (await bench.search(`search n=3 | ${text}`)).rows;
  expect(await last("rename tags{} as colour | table colour")).toEqual([{ colour: ["red", "Blue"] }]);
  expect(await last("fields tags{} | stats count by tags{}")).toEqual([
    { "tags{}": "Blue", count: 1 },
    { "tags{}": "red", count: 1 },
  ]);
  expect(await last("mvexpand tags{} | table tags{}")).toEqual([{ "tags{}": "red" }, { "tags{}": "Blue" }]);
  expect(await last("mvexpand tags{} | mvcombine tags{} | table tags{}")).toEqual([
    { "tags{}": ["red", "Blue"] },
  ]);
  expect(await last("fields - tags{} | table n tags")).toEqual([{ n: 3 }]);
});

test("rule 1: terms are joined by AND, and operators are written in capitals", async () => {
  expect(await found("level=* status=*")).toEqual([2, 1]);
  expect(await found("status=500 OR status=200")).toEqual([2, 1]);
  expect(await found("status=500 or status=200")).toEqual([]);
});

test("rule 2: OR binds stronger than AND, and NOT stronger than OR", async () => {
  expect(await found("status=* level=error OR level=info")).toEqual([2, 1]);
  expect(await found("level=error OR level=info n=1")).toEqual([1]);
  expect(await found("NOT level=error OR n=1")).toEqual([4, 2, 1, 3]);
  expect(await found("NOT (level=error OR level=info)")).toEqual([4, 3]);
});

test("rule 3: IN takes a list of values, which can have wildcards", async () => {
  expect(await found("level IN (ERR*, info)")).toEqual([2, 1]);
  expect(await found("status IN (200, 404)")).toEqual([2]);
  expect(await found("status NOT IN (200, 404)")).toEqual([4, 1, 3]);
  const many = Array.from({ length: 40 }, (_, index) => index + 480).join(",");
  expect(await found(`status IN (${many})`)).toEqual([1]);
  expect(await found(`tags IN (${many}, red)`)).toEqual([3]);
});

test("rule 6: a star stands for any characters, quoted or not, and nothing else is a wildcard", async () => {
  expect(await found('user.name="*da"')).toEqual([1]);
  expect(await found("user.name=A_a")).toEqual([]);
  expect(await found("user.name=%")).toEqual([]);
  expect(await found("status=5*")).toEqual([1]);
});

test("rule 9: a field is compared with what is written, not with another field", async () => {
  expect(
    (
      await bench.searchRows(
        [
          { a: "b", b: "x" },
          { a: "x", b: "x" },
        ],
        "search a=b",
      )
    ).rows,
  ).toEqual([{ a: "b", b: "x" }]);
});

test("rule 12: a subsearch is replaced by what finds its rows", async () => {
  expect(await found("[search status=500 | fields level]")).toEqual([1]);
  expect(await found("NOT [search status=500 | fields level]")).toEqual([4, 2, 3]);
  expect(await found("[search status=* | fields level, status]")).toEqual([2, 1]);
  expect(await found("[search status=999 | fields level]")).toEqual([]);
  expect(await found('[search status=500 | eval search="n=2 OR n=3" | fields search]')).toEqual([2, 3]);
  expect(await found('[search status=500 | eval query="var" | fields query]')).toEqual([4]);
  expect(await found("[search n=3 | fields tags]")).toEqual([3]);
});

test("rule 13: time modifiers of a search go before the request's, and are its own alone", async () => {
  const range = { earliestMs: Date.UTC(2026, 0, 15, 10), latestMs: Date.UTC(2026, 0, 15, 11) };
  const narrow = await splBench(
    [9, 10, 11].map((hour) => ({
      n: hour,
      "@timestamp": `2026-01-15T${String(hour).padStart(2, "0")}:30:00Z`,
    })),
    { range },
  );
  const numbers = async (text: string) => (await narrow.search(text)).rows.map(({ n }) => n);
  try {
    expect(await numbers("search *")).toEqual([10]);
    expect(await numbers("search earliest=-2h")).toEqual([11, 10]);
    expect(await numbers("search earliest=-3h latest=-1h")).toEqual([10, 9]);
    expect(await numbers("search earliest=0 [search * | fields n]")).toEqual([10]);
    expect(await numbers("search [search * | eval earliest=_time | fields earliest]")).toEqual([11, 10]);
  } finally {
    await narrow.close();
  }
});

test("a search whose text says its range has a message about that, as splunkd's has", async () => {
  const said = ["Your timerange was substituted based on your search string"];
  for (const times of ["earliest=-5m", "earliest=-5m latest=-5m", "latest=now n=1"]) {
    expect((await bench.search(`search ${times}`)).messages).toEqual(said);
  }
  expect((await bench.search("search n=1")).messages).toEqual([]);
});

test("rule 69: the earliest is in the range, the latest is not; forms of time", async () => {
  expect(await found("earliest=-1h latest=now")).toEqual([4, 2]);
  expect(await found("earliest=-3h latest=-1h")).toEqual([1, 3]);
  expect(await found("earliest=1768471200 latest=1768474800")).toEqual([1]);
  expect(await found('earliest="01/15/2026:10:00:00" latest="01/15/2026:10:00:01"')).toEqual([1]);
  expect(await found("starthoursago=2 endhoursago=1")).toEqual([1]);
  expect(await found("latest=-2h")).toEqual([3]);
  expect(await found("_index_earliest=-1h")).toEqual([4, 2]);
  expect(await found("starttime=01/15/2026:09:00:00 searchtimespanhours=1")).toEqual([3]);
  expect(await bench.refusal("search earliest=never")).toBe(`Invalid value "never" for time term 'earliest'`);
});

test("rule 68: snapping goes down, after the offset", async () => {
  expect(await found("earliest=@d+10h latest=-30m@h")).toEqual([1]);
});

test("an index that is not there finds nothing; a search that names none looks at the default", async () => {
  expect(await found("index=nowhere")).toEqual([]);
  expect(await found("index=MAIN n=1")).toEqual([1]);
  expect(await found("index=* n=1")).toEqual([1]);
  const other = await splBench([{ n: 1 }], { knowledge: { defaultIndexes: () => ["web"] } });
  try {
    expect((await other.search("search *")).rows).toEqual([]);
    expect((await other.search("search index=main")).rows).toHaveLength(1);
  } finally {
    await other.close();
  }
});

test("tags and event types stand for what they mean", async () => {
  const types: Record<string, string> = {
    trouble: "tag=bad NOT n=2",
    trifle: "level=info",
    loop: "eventtype=loop",
  };
  const known = await splBench(
    [
      { n: 1, level: "error" },
      { n: 2, host: "web1" },
      { n: 3, level: "info" },
    ],
    {
      knowledge: {
        tagged: (tag) =>
          tag === "bad"
            ? [
                { field: "level", value: "error" },
                { field: "host", value: "web*" },
              ]
            : [],
        eventType: (name) => types[name],
        eventTypes: () => ["trouble", "trifle"],
      },
    },
  );
  const numbers = async (text: string) => (await known.search(text)).rows.map(({ n }) => n).sort();
  try {
    expect(await numbers("search tag=bad")).toEqual([1, 2]);
    expect(await numbers("search tag::host=bad")).toEqual([2]);
    expect(await numbers("search NOT tag=bad")).toEqual([3]);
    expect(await numbers("search tag=good")).toEqual([]);
    expect(await numbers("search eventtype=trouble")).toEqual([1]);
    expect(await numbers("search eventtype=tr*")).toEqual([1, 3]);
    expect(await numbers("search NOT eventtype=*rif*")).toEqual([1, 2]);
    expect(await numbers("search eventtype=x*")).toEqual([]);
    expect((await known.search("search eventtype=none")).messages).toEqual([
      "The event type 'none' does not exist or is deactivated.",
    ]);
    expect(await known.refusal("search eventtype=loop")).toContain("refer to themselves");
    expect(await known.refusal("search hosttag=x")).toBe(
      "Error in 'search' command: 'hosttag=' is not served here.",
    );
  } finally {
    await known.close();
  }
});

test("rule 11: networks of IPv6 are looked for as those of IPv4 are", async () => {
  const addresses = [{ ip: "2001:db8:1::5" }, { ip: "2001:DB9::1" }, { ip: "10.1.2.3" }, { ip: "web" }];
  const found = async (text: string) => (await bench.searchRows(addresses, text)).rows.map(({ ip }) => ip);
  expect(await found("search ip=2001:db8::/32")).toEqual(["2001:db8:1::5"]);
  expect(await found('search ip="2001:db9::/32" OR ip=10.0.0.0/8')).toEqual(["2001:DB9::1", "10.1.2.3"]);
  expect(await found("search NOT ip=2001:db8::/32")).toHaveLength(3);
  expect(await found("search ip IN (2001:db8::/32, web)")).toEqual(["2001:db8:1::5", "web"]);
});

test("rule 6: a wildcard alone is true of every row, whether or not it has a text", async () => {
  expect((await bench.search("search n<3 | stats count by n | search *")).rows).toHaveLength(2);
  expect((await bench.search("search n<3 | stats count by n | search err")).rows).toEqual([]);
});

test("later searches filter the preceding rows", async () => {
  const rows = [
    { a: "x", n: 5 },
    { a: "y", n: 50, _raw: "some text" },
    { a: ["x", "z"], n: 7 },
  ];
  const numbers = async (text: string) => (await bench.searchRows(rows, text)).rows.map(({ n }) => n);
  expect(await numbers("search n>6")).toEqual([50, 7]);
  expect(await numbers("search a=x")).toEqual([5, 7]);
  expect(await numbers("search text")).toEqual([50]);
  expect(await numbers("search NOT text")).toEqual([5, 7]);
});

test("probing the newest events for a phrase finds the same first events as a full scan", async () => {
  const events = Array.from({ length: 400 }, (_, n) => ({
    n,
    "@timestamp": new Date(Date.UTC(2026, 0, 1) + (((n * 37) % 400) >> 2) * 1000).toISOString(),
    _raw: n % 3 === 0 ? `pay done ${n}` : `done pay ${n}${n < 40 ? " rare event" : ""}`,
  }));
  const many = await splBench(events);
  try {
    for (const asked of [
      '"pay done"',
      '"done pay" n>100',
      '"rare event"',
      '"no event"',
      "p*y earliest=1",
      'NOT "pay done"',
    ]) {
      const all = (await many.search(`search ${asked}`)).rows.map(({ n }) => n);
      for (const count of [1, 5, 30, 400]) {
        const { rows } = await many.search(`search ${asked} | head ${count}`);
        expect(
          rows.map(({ n }) => n),
          `${asked} | head ${count}`,
        ).toEqual(all.slice(0, count));
      }
    }
    const { statements } = await many.search('search "pay done" | head 5');
    const [looked = "", shown = ""] = statements.slice(-2);
    expect([looked, shown].map((text) => text.includes("regexp_matches"))).toEqual([true, false]);
  } finally {
    await many.close();
  }
});

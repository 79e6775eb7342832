/** Commands that read rows by name, and commands that combine rows of several searches. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Knowledge, LookupTable } from "../../../spl/context/knowledge.ts";
import type { Rows } from "../../../spl/relation/rows.ts";
import { rowsOf, type SplBench, splBench } from "../../support/spl.ts";

const events = [
  { _time: "2026-01-15T10:00:00Z", host: "a", user: "ann", status: 200 },
  { _time: "2026-01-15T10:01:00Z", host: "b", user: "bob", status: 404 },
  { _time: "2026-01-15T10:02:00Z", host: "a", user: "cid", status: 404 },
  { _time: "2026-01-15T10:03:00Z", host: "b", user: "ann", status: 303 },
];

const tables = new Map<string, LookupTable>();
const collected: Parameters<Knowledge["collect"]>[0][number][] = [];

const knowledge: Partial<Knowledge> = {
  lookup: async (name) => tables.get(name),
  writeLookup: async (name, rows) => void tables.set(name, rows),
  removeLookup: async (name) => void tables.delete(name),
  savedSearch: (name) =>
    new Map([
      [
        "by host",
        { name, search: "status=$code$ | fields host, user", earliest: undefined, latest: undefined },
      ],
      ["late", { name, search: "*", earliest: "01/15/2026:10:02:00", latest: undefined }],
      ["round", { name, search: "| savedsearch round", earliest: undefined, latest: undefined }],
    ]).get(name),
  dataModel: (model) =>
    model === "Web"
      ? [
          { model, object: "Web", constraint: "", fields: {} },
          { model, object: "Missing", constraint: "status=404", fields: { src_user: "user" } },
        ]
      : [],
  jobResults: async (job, which): Promise<Rows | undefined> =>
    job === "1.1" || job === "admin:search:x"
      ? rowsOf([{ found: which?.part, offset: which?.offset }])
      : undefined,
  rest: async (path, args) =>
    path === "/services/apps/local"
      ? rowsOf([{ title: "search", args: JSON.stringify(args) }, { title: "other" }])
      : undefined,
  collect: async (given) => void collected.push(...given),
};

let bench: SplBench;
beforeAll(async () => {
  bench = await splBench(events, { knowledge });
});
afterAll(() => bench.close());

async function rows(text: string) {
  return (await bench.search(text)).rows;
}

test("rule 64: inputlookup generates rows, and appends them to others with append=t", async () => {
  tables.set(
    "users.csv",
    rowsOf([
      { user: "ann", team: "red" },
      { user: "bob", team: "blue" },
      { user: "cid", team: "red" },
    ]),
  );
  expect(await rows("| inputlookup users.csv")).toHaveLength(3);
  expect(await rows("| inputlookup start=1 max=1 users.csv")).toEqual([{ user: "bob", team: "blue" }]);
  expect(await rows('| inputlookup users.csv where team="RED" user!=cid')).toEqual([
    { user: "ann", team: "red" },
  ]);
  expect(
    await rows("search host=b | fields user | fields - _* | inputlookup append=t max=1 users.csv"),
  ).toEqual([{ user: "ann" }, { user: "bob" }, { user: "ann", team: "red" }]);
  expect(await bench.refusal("search host=b | inputlookup users.csv")).toContain("must be the first command");
  expect(await bench.refusal("| inputlookup nobody.csv")).toContain("Error in 'inputlookup' command");
});

test("outputlookup writes a table and lets its rows go on", async () => {
  expect(
    await rows(
      "search status=404 | fields - _* | fields host, user | outputlookup out.csv | fields user | fields - _*",
    ),
  ).toEqual([{ user: "cid" }, { user: "bob" }]);
  expect(await rows("| inputlookup out.csv")).toEqual([
    { host: "a", user: "cid" },
    { host: "b", user: "bob" },
  ]);
  await rows(
    'search status=404 host=a | eval user="dan" | fields host, user | fields - _* | outputlookup key_field=host out.csv',
  );
  expect(await rows("| inputlookup out.csv | fields host, user")).toEqual([
    { host: "a", user: "dan" },
    { host: "b", user: "bob" },
  ]);
  await rows("search status=999 | outputlookup override_if_empty=f out.csv");
  expect(tables.has("out.csv")).toBe(true);
  await rows("search status=999 | outputlookup out.csv");
  expect(tables.has("out.csv")).toBe(false);
});

test("savedsearch runs a saved search with values in place of its variables", async () => {
  expect(await rows('| savedsearch "by host" code=404 | fields user | fields - _*')).toEqual([
    { user: "cid" },
    { user: "bob" },
  ]);
  expect(await bench.refusal('| savedsearch "by host"')).toContain(
    "Could not find variable in the argument map",
  );
  expect(await bench.refusal("| savedsearch nobody")).toBe(
    "Error in 'savedsearch' command: Unable to find saved search named 'nobody'.",
  );
  expect(await bench.refusal("| savedsearch round")).toContain("is part of itself");
});

test("a saved search has its own time range when its search has none", async () => {
  expect(await rows("| savedsearch late")).toHaveLength(2);
});

test("from takes the rows of a data model's object, of a lookup table or of a saved search", async () => {
  expect(await rows("| from datamodel:Web | fields host")).toHaveLength(4);
  expect(await rows('| from datamodel:"Web.Missing" | fields src_user, user | fields - _*')).toEqual([
    { src_user: "cid", user: "cid" },
    { src_user: "bob", user: "bob" },
  ]);
  expect(await rows("| from inputlookup:users.csv")).toHaveLength(3);
  expect(await rows("| from savedsearch:late")).toHaveLength(2);
  expect(await bench.refusal("| from datamodel:None")).toContain("Data model 'None' was not found");
  expect(await bench.refusal("| from federated:x")).toContain("not served here");
  expect(await bench.refusal("| from nonsense")).toContain("Invalid dataset");
});

test("loadjob gives the results or the events of a job, or of one of a saved search's jobs", async () => {
  expect(await rows("| loadjob 1.1")).toEqual([{ found: "results", offset: 0 }]);
  expect(await rows('| loadjob savedsearch="admin:search:x" artifact_offset=2 events=t')).toEqual([
    { found: "events", offset: 2 },
  ]);
  expect(await bench.refusal("| loadjob 9.9")).toBe("Error in 'loadjob' command: Cannot find job_id '9.9'.");
  expect(await bench.refusal("| loadjob savedsearch=x")).toContain(
    "The savedsearch argument format is invalid. Expecting",
  );
});

test("rest gives the entries of a collection, with arguments of the request", async () => {
  expect(await rows("| rest /services/apps/local?f=title count=1 splunk_server=local search=x")).toEqual([
    { title: "search", args: '{"f":"title","search":"x"}', splunk_server: "splunk" },
  ]);
  expect(await rows("| rest splunk_server=local count=1 /services/apps/local?f=title search=x")).toEqual(
    await rows("| rest /services/apps/local?f=title count=1 splunk_server=local search=x"),
  );
  const { rows: none, messages } = await bench.search("| rest /services/nothing");
  expect(none).toEqual([]);
  expect(messages).toHaveLength(1);
});

test("setfields gives every row the same values, under cleaned names", async () => {
  expect(
    await rows(
      'search status=303 | setfields ip="10.0.0.1", "_foo bar"="a b" | fields ip, foo_bar | fields - _*',
    ),
  ).toEqual([{ ip: "10.0.0.1", foo_bar: "a b" }]);
});

test("multisearch puts events together by time, and takes streaming searches only", async () => {
  expect(
    await rows(
      '| multisearch [search host=a | eval from="x"] [search host=b | eval from="y"] | fields user, from | fields - _*',
    ),
  ).toEqual([
    { user: "ann", from: "y" },
    { user: "cid", from: "x" },
    { user: "bob", from: "y" },
    { user: "ann", from: "x" },
  ]);
  expect(await bench.refusal("| multisearch [search a]")).toContain("At least two searches");
  expect(await bench.refusal("| multisearch [search a] [search b | stats count]")).toContain(
    "purely streaming operations (subsearch 2 contains",
  );
});

test("union puts streams together by time, and other rows after one another", async () => {
  expect(await rows("| union [search host=a] [search host=b] | fields user | fields - _*")).toEqual([
    { user: "ann" },
    { user: "cid" },
    { user: "bob" },
    { user: "ann" },
  ]);
  expect(
    await rows(
      "search host=a | stats count by user | union inputlookup:users.csv [search host=b | stats count]",
    ),
  ).toEqual([
    { user: "ann", count: 1 },
    { user: "cid", count: 1 },
    { user: "ann", team: "red" },
    { user: "bob", team: "blue" },
    { user: "cid", team: "red" },
    { count: 2 },
  ]);
});

test("a dataset of a union that has too many rows is cut, and that is said", async () => {
  const { rows: found, messages } = await bench.search(
    "| union maxout=1 [search * | stats count by user] [search * | stats count]",
  );
  expect(found).toHaveLength(2);
  expect(messages).toEqual(["[subsearch]: Subsearch produced 3 results, truncating to maxout 1."]);
});

test("set compares rows by all fields that are not internal", async () => {
  expect(await rows("| set union [search host=a | fields user] [search host=b | fields user]")).toEqual([
    { user: "cid" },
    { user: "ann" },
    { user: "bob" },
  ]);
  expect(await rows("| set diff [search host=a | fields user] [search host=b | fields user]")).toEqual([
    { user: "cid" },
    { user: "bob" },
  ]);
  expect(await rows("| set intersect [search host=a | fields user] [search host=b | fields user]")).toEqual([
    { user: "ann" },
  ]);
});

test("collect stores rows as events of an index, with their time, and lets them go on", async () => {
  collected.length = 0;
  const found = await rows(
    'search status=404 | stats count by user | collect index=summary marker="run=1" host=h',
  );
  expect(found).toEqual([
    { user: "bob", count: 1 },
    { user: "cid", count: 1 },
  ]);
  expect(collected[0]).toEqual({
    timeMs: Date.UTC(2026, 0, 15, 12),
    raw: '01/15/2026 12:00:00 +0000, info_min_time=0.000, info_max_time="+Infinity", info_search_time=1768478400.000, run=1, user="bob", count=1',
    fields: { index: "summary", source: "1768478400.1", sourcetype: "stash", host: "h" },
  });
  expect(collected).toHaveLength(2);
  const tried = await rows("search status=303 | collect index=summary testmode=t");
  expect(tried).toMatchObject([{ index: "summary", sourcetype: "stash", _time: 1768471380 }]);
  expect(collected).toHaveLength(2);
  expect(await bench.refusal("search x | collect")).toContain("index=<string>");
});

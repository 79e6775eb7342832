/** Reports ask for no more columns of events than they read. */
import { afterAll, expect, test } from "vitest";
import { splBench } from "../../support/spl.ts";

const { search, close } = await splBench([
  { _time: 1, host: "a", size: 1, message: "code 7", other: "x" },
  { _time: 2, host: "b", size: 2, message: "code 8", other: "y" },
  { _time: 3, host: "a", size: 3, message: "code 7", other: "z" },
]);
afterAll(close);

test.each([
  [
    "stats count by host",
    [
      { host: "a", count: 2 },
      { host: "b", count: 1 },
    ],
  ],
  ["top limit=1 host | fields host count", [{ host: "a", count: 2 }]],
  [
    "dedup host | table host size",
    [
      { host: "a", size: 3 },
      { host: "b", size: 2 },
    ],
  ],
  [
    'rex field=message "code (?<code>\\d+)" | stats count by code',
    [
      { code: "7", count: 2 },
      { code: "8", count: 1 },
    ],
  ],
  ["eval twice=size*2 | where twice>2 | stats sum(twice) AS sum", [{ sum: 10 }]],
  ["search size>1 | append [search host=b] | stats count", [{ count: 3 }]],
])("%s", async (text, expected) => {
  const { rows, statements } = await search(`search index=main | ${text}`);
  expect(rows).toEqual(expected);
  expect(statements.at(-1)).not.toMatch(/punct|date_hour|timestartpos|other/u);
});

test("what a later command reads through a wildcard, or by a name from the values, is there", async () => {
  expect((await search("search index=main | stats values(oth*) AS oth*")).rows).toEqual([
    { other: ["x", "y", "z"] },
  ]);
  expect((await search("search index=main | eval {host}=other | stats values(a) AS a")).rows).toEqual([
    { a: ["x", "z"] },
  ]);
  expect(
    (
      await search(
        "search index=main | foreach date_m* [eval sum=coalesce(sum, 0)+1] | stats max(sum) AS most",
      )
    ).rows,
  ).toEqual([{ most: 3 }]);
  expect((await search("search index=main | head 1 | table punct date_year")).rows).toEqual([
    { punct: expect.any(String), date_year: 1970 },
  ]);
});

test("a search that comes again has the same statements, so that they need not be prepared again", async () => {
  const text =
    'search index=main | eval parts=mvmap(split(message, " "), upper(parts)) | sort message | table parts';
  const first = await search(text);
  expect(first.statements.join()).toContain("lambda");
  expect((await search(text)).statements).toEqual(first.statements);
});

test("a field that is called as the program's own names is that field still", async () => {
  const text =
    'search index=main | eval ".v0"=message, ".v7"=mvmap(split(message, " "), upper(message)) | table .v0 .v7';
  expect((await search(`${text} | head 1`)).rows).toEqual([{ ".v0": "code 7", ".v7": expect.anything() }]);
});

/** `lookup` over tables of every kind of definition. */
import { expect, test } from "vitest";
import type { LookupDefinition } from "../../../spl/context/knowledge.ts";
import { rowsOf, splBench } from "../../support/spl.ts";

const people = [
  { user: "ann", team: "red", level: 1 },
  { user: "bob", team: "blue", level: 2 },
  { user: "bob", team: "green", level: 3 },
  { user: "eve", team: "", level: 4 },
];

/** Looks rows up in a table. */
async function lookUp(
  rows: readonly object[],
  commands: string,
  table: readonly object[] = people,
  definition?: LookupDefinition,
) {
  const bench = await splBench([], {
    knowledge: {
      lookup: async (name) =>
        name === "people" ? { ...rowsOf(table), ...(definition ? { definition } : {}) } : undefined,
    },
  });
  try {
    return (await bench.searchRows(rows, commands)).rows;
  } finally {
    await bench.close();
  }
}

test("rule 64: lookup gives all fields of the rows that agree, several of them as a multi-value", async () => {
  expect(
    await lookUp([{ user: "ann" }, { user: "bob" }, { user: "cid" }, { user: "eve" }], "lookup people user"),
  ).toEqual([
    { user: "ann", team: ["red"], level: [1] },
    { user: "bob", team: ["blue", "green"], level: [2, 3] },
    { user: "cid" },
    { user: "eve", level: [4] },
  ]);
});

test("rule 64: OUTPUT overwrites, also with nothing; OUTPUTNEW only fills", async () => {
  const rows = [{ who: "ann", team: "old" }, { who: "cid", team: "old" }, { who: "ann" }, { team: "kept" }];
  expect(await lookUp(rows, "lookup people user AS who OUTPUT team")).toMatchObject([
    { who: "ann", team: ["red"] },
    { who: "cid" },
    { who: "ann", team: ["red"] },
    { team: ["kept"] },
  ]);
  expect((await lookUp(rows, "lookup people user AS who OUTPUT team"))[1]).toEqual({ who: "cid" });
  expect(await lookUp(rows, "lookup people user AS who OUTPUTNEW team, level AS rank")).toEqual([
    { who: "ann", team: ["old"], rank: [1] },
    { who: "cid", team: ["old"] },
    { who: "ann", team: ["red"], rank: [1] },
    { team: ["kept"] },
  ]);
});

test("rule 64: case counts unless the definition says otherwise", async () => {
  expect(await lookUp([{ user: "ANN" }], "lookup people user OUTPUT level")).toEqual([{ user: "ANN" }]);
  expect(
    await lookUp([{ user: "ANN" }], "lookup people user OUTPUT level", people, { caseSensitive: false }),
  ).toEqual([{ user: "ANN", level: [1] }]);
});

test("max_matches takes the first rows of the table; min_matches fills up with default_match", async () => {
  expect(
    await lookUp([{ user: "bob" }], "lookup people user OUTPUT team", people, { maxMatches: 1 }),
  ).toEqual([{ user: "bob", team: "blue" }]);
  const defaults = { minMatches: 1, maxMatches: 1, defaultMatch: "none" };
  expect(
    await lookUp(
      [{ user: "cid" }, { user: "ann" }, { x: 1 }],
      "lookup people user OUTPUT team",
      people,
      defaults,
    ),
  ).toEqual([{ user: "cid", team: "none" }, { user: "ann", team: "red" }, { x: 1 }]);
  expect(
    await lookUp([{ user: "cid" }, { user: "ann" }], "lookup people user OUTPUT team", people, {
      minMatches: 2,
      defaultMatch: "?",
    }),
  ).toEqual([
    { user: "cid", team: ["?", "?"] },
    { user: "ann", team: ["red", "?"] },
  ]);
});

test("match_type WILDCARD: * in the table stands for any characters, and nothing else is special", async () => {
  const table = [
    { host: "web_*", kind: "web" },
    { host: "*", kind: "any" },
  ];
  const definition = { matchType: { host: "WILDCARD" }, maxMatches: 1 } as const;
  expect(
    await lookUp(
      [{ host: "web_1" }, { host: "webx1" }, { host: "WEB_2" }],
      "lookup people host",
      table,
      definition,
    ),
  ).toEqual([
    { host: "web_1", kind: "web" },
    { host: "webx1", kind: "any" },
    { host: "WEB_2", kind: "any" },
  ]);
  expect(
    await lookUp([{ host: "web_1" }], "lookup people host", table, { matchType: { host: "WILDCARD" } }),
  ).toEqual([{ host: "web_1", kind: ["web", "any"] }]);
});

test("match_type CIDR: addresses of networks, IPv4 and IPv6", async () => {
  const table = [
    { net: "10.0.0.0/8", site: "inside" },
    { net: "2001:db8::/32", site: "lab" },
  ];
  const definition = { matchType: { net: "CIDR" }, maxMatches: 1 } as const;
  expect(
    await lookUp(
      [{ ip: "10.1.2.3" }, { ip: "2001:db8::1" }, { ip: "8.8.8.8" }, { ip: "none" }],
      "lookup people net AS ip OUTPUT site",
      table,
      definition,
    ),
  ).toEqual([
    { ip: "10.1.2.3", site: "inside" },
    { ip: "2001:db8::1", site: "lab" },
    { ip: "8.8.8.8" },
    { ip: "none" },
  ]);
});

test("a multi-value is looked up by each of its values", async () => {
  expect(await lookUp([{ user: ["ann", "bob"] }, { user: "cid" }], "lookup people user OUTPUT team")).toEqual(
    [{ user: ["ann", "bob"], team: ["red", "blue", "green"] }, { user: ["cid"] }],
  );
});

test("several fields must agree, and a number agrees with a text that looks the same", async () => {
  const rows = [
    { user: "bob", level: "3" },
    { user: "bob", level: "9" },
  ];
  expect(await lookUp(rows, "lookup people user, level OUTPUT team")).toEqual([
    { user: "bob", level: "3", team: "green" },
    { user: "bob", level: "9" },
  ]);
});

test("a table with times gives the last row that held when the event happened", async () => {
  const table = [
    { ip: "a", who: "first", since: "100" },
    { ip: "a", who: "second", since: "200" },
  ];
  const definition = { timeField: "since", maxOffsetSeconds: 150 };
  const rows = [50, 150, 250, 900].map((_time) => ({ _time, ip: "a" }));
  expect(await lookUp(rows, "lookup people ip OUTPUT who", table, definition)).toEqual([
    { _time: 50, ip: "a" },
    { _time: 150, ip: "a", who: "first" },
    { _time: 250, ip: "a", who: "second" },
    { _time: 900, ip: "a" },
  ]);
});

test("a table or a field that is not there is refused in splunkd's words", async () => {
  await expect(lookUp([{ a: 1 }], "lookup nobody a AS b OUTPUT c")).rejects.toThrow(
    "Error in 'lookup' command: Could not construct lookup 'nobody, a, AS, b, OUTPUT, c'. See search.log for more details.",
  );
  await expect(lookUp([{ a: 1 }], "lookup people a")).rejects.toThrow(
    "Error in 'lookup' command: Cannot find the source field 'a' in the lookup table 'people'.",
  );
  await expect(lookUp([{ a: 1 }], "lookup people user OUTPUT a")).rejects.toThrow(
    "Cannot find the destination field 'a' in the lookup table 'people'.",
  );
  await expect(lookUp([{ a: 1 }], "lookup people")).rejects.toThrow(
    "Must specify one or more lookup fields.",
  );
});

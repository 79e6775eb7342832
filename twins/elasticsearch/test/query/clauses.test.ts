import type { LogStore } from "@offhook/log-store/store/log-store";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { UnrecognisedQuery } from "../../query/errors.ts";
import { compile, errorOf, idsOf, scoresOf, storeOf } from "./support.ts";

const events = [
  {
    "@timestamp": "2026-01-31T09:00:00Z",
    level: "error",
    message: "Pool is empty",
    http: { status: 503 },
    ok: false,
  },
  {
    "@timestamp": "2026-01-31T10:00:00Z",
    level: "info",
    message: "Pool refilled, pool ready",
    http: { status: 200 },
    ok: true,
  },
  {
    "@timestamp": "2026-02-01T00:00:00Z",
    level: "Error",
    message: "Timeout of the upstream",
    tags: ["a", "b"],
    took: 1.5,
  },
  { level: "warn", http: { status: 404 }, took: 3 },
];

describe("a clause", () => {
  let store: LogStore;
  beforeAll(async () => {
    store = await storeOf(events);
  });
  afterAll(() => store.close());

  const matches: [name: string, query: object, ids: string[]][] = [
    ["match_all matches everything", { match_all: {} }, ["0", "1", "2", "3"]],
    ["match_none matches nothing", { match_none: {} }, []],
    ["term looks at the whole value", { term: { level: "error" } }, ["0"]],
    ["term has a long form", { term: { level: { value: "error" } } }, ["0"]],
    ["term can ignore case", { term: { level: { value: "ERROR", case_insensitive: true } } }, ["0", "2"]],
    ["term takes a number as a string", { term: { "http.status": "503" } }, ["0"]],
    ["term on a list matches any of its values", { term: { tags: "b" } }, ["2"]],
    ["term takes booleans", { term: { ok: "true" } }, ["1"]],
    ["term on a missing field matches nothing", { term: { nope: 1 } }, []],
    ["match looks at words", { match: { message: "POOL upstream" } }, ["0", "1", "2"]],
    ["match can want all words", { match: { message: { query: "pool ready", operator: "and" } } }, ["1"]],
    [
      "match can want some of its words",
      { match: { message: { query: "pool is ready", minimum_should_match: 2 } } },
      ["0", "1"],
    ],
    ["range on numbers", { range: { "http.status": { gte: 404, lt: 503 } } }, ["3"]],
    ["range on doubles", { range: { took: { gt: 1.5 } } }, ["3"]],
    ["range on times", { range: { "@timestamp": { gte: "2026-01-31T10:00:00Z" } } }, ["1", "2"]],
    [
      "a day as an upper bound is the whole day",
      { range: { "@timestamp": { lte: "2026-01-31" } } },
      ["0", "1"],
    ],
    [
      "bool: must and must_not",
      { bool: { must: { match: { message: "pool" } }, must_not: [{ term: { level: "info" } }] } },
      ["0"],
    ],
    [
      "bool: what has not a field is not excluded by it",
      { bool: { must_not: [{ range: { took: { gt: 2 } } }] } },
      ["0", "1", "2"],
    ],
    [
      "bool: one of should, when nothing else is asked",
      { bool: { should: [{ term: { level: "warn" } }, { match: { message: "timeout" } }] } },
      ["2", "3"],
    ],
    [
      "bool: should is optional beside a filter",
      {
        bool: { filter: { match: { message: "pool" } }, should: [{ term: { level: "info" } }] },
      },
      ["0", "1"],
    ],
    [
      "bool: minimum_should_match counts",
      {
        bool: {
          should: [
            { term: { level: "error" } },
            { match: { message: "pool" } },
            { range: { "http.status": { lt: 300 } } },
          ],
          minimum_should_match: "75%",
        },
      },
      ["0", "1"],
    ],
  ];
  test.each(matches)("%s", async (_, query, ids) => {
    expect(await idsOf(store, query)).toEqual(ids);
  });

  test("a bound with date math is a literal that matches nothing, in specification", async () => {
    expect(await idsOf(store, { range: { "@timestamp": { lte: "now" } } })).toEqual([]);
    expect(await idsOf(store, { range: { "@timestamp": { lte: "now" } } }, "vendor")).toEqual([
      "0",
      "1",
      "2",
    ]);
    expect(await idsOf(store, { range: { "@timestamp": { gte: "now-30d/d" } } }, "vendor")).toEqual([
      "0",
      "1",
      "2",
    ]);
  });

  test("an unknown clause is dropped from a bool, and reported", async () => {
    const query = { bool: { must: [{ term: { level: "error" } }, { prefix: { level: "x" } }] } };
    expect(await idsOf(store, query)).toEqual(["0"]);
    expect(compile(store, query).dropped).toEqual([
      {
        clause: "prefix",
        path: "query.bool.must[1]",
        reason: expect.stringContaining("[prefix]"),
      },
    ]);
  });

  test("an unknown top-level shape can be handed to a translator", () => {
    const error = errorOf(() => compile(store, { boool: {} }));
    expect(error).toBeInstanceOf(UnrecognisedQuery);
    expect(error.cause).toMatchObject({
      type: "parsing_exception",
      reason: "unknown query [boool] did you mean [bool]?",
    });
  });

  test("filters do not score, must does", async () => {
    const query = {
      bool: { filter: [{ term: { level: "error" } }], must: [{ match_all: { boost: 2 } }], boost: 1.5 },
    };
    expect(await scoresOf(store, query)).toEqual(new Map([["0", 3]]));
    expect(await scoresOf(store, { bool: { filter: [{ term: { level: "error" } }] } })).toEqual(
      new Map([["0", 0]]),
    );
  });
});

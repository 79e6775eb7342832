/** Bodies that no client sends on purpose: surrogate halves, and members of the wrong type. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  await sandbox.raw("PUT", "/logs/_doc/1", {
    message: "disk is full",
    bytes: 5,
    tags: ["x", "y"],
    o: [{ m: "a b" }],
  });
});
afterAll(() => sandbox.stop());

const ndjson = { "content-type": "application/x-ndjson" };
const lines = (...items: unknown[]) => items.map((item) => `${JSON.stringify(item)}\n`).join("");

describe("half of a surrogate pair", () => {
  test("in ids is found as it was written, and all halves are one", async () => {
    const action = { index: { _index: "logs", _id: "i\ud800" } };
    const written = await sandbox.raw("POST", "/_bulk", lines(action, { a: 1 }, action, { a: 2 }), ndjson);
    expect(written.body).toMatchObject({
      errors: false,
      items: [{ index: { result: "created" } }, { index: { result: "updated" } }],
    });
    const { body } = await sandbox.raw("POST", "/logs/_mget", {
      ids: ["i\ud800", "i\ufffd", "\ud800", "nope"],
    });
    expect(body.docs).toMatchObject([
      { _id: "i\ud800", found: true, _source: { a: 2 } },
      { _id: "i\ufffd", found: true },
      { _id: "\ud800", found: false },
      { _id: "nope", found: false },
    ]);
    const query = { ids: { values: ["i\ud801"] } };
    const found = await sandbox.raw("POST", "/logs/_search", { query });
    expect(found.body.hits.total.value).toBe(1);
    const deletion = { delete: { _index: "logs", _id: "i\udfff" } };
    const deleted = await sandbox.raw("POST", "/_bulk", lines(deletion), ndjson);
    expect(deleted.body.items).toMatchObject([{ delete: { result: "deleted" } }]);
  });

  test("in a document spoils no query that reads members of all documents", async () => {
    const source = String.raw`{"o":[{"m":"c \ud800 d"}],"pair":"\ud83d\ude00","text":"\\ud800"}`;
    await sandbox.raw("PUT", "/logs/_doc/half", source, { "content-type": "application/json" });
    const query = { nested: { path: "o", query: { match: { "o.m": "a" } } } };
    const { status, body } = await sandbox.raw("POST", "/logs/_search", { query });
    expect({ status, ids: body.hits.hits.map(({ _id }: { _id: string }) => _id) }).toEqual({
      status: 200,
      ids: ["1"],
    });
    const { body: stored } = await sandbox.raw("GET", "/logs/_doc/half");
    expect(stored._source).toEqual({ o: [{ m: "c \ufffd d" }], pair: "😀", text: "\\ud800" });
  });

  const text = fc.constantFrom("\ud800", "x\udc00y", "\udc00\ud800", "\ud83d\ude00", "full", "a\ud800 b");
  const field = fc.constantFrom("message", "message.keyword", "tags", "tags.keyword", "bytes", "nope");
  const many = fc.array(text, { minLength: 1, maxLength: 3 }).chain((some) =>
    // More values than are bound one by one.
    fc.constantFrom(some, [...some, ...Array.from({ length: 80 }, (_, number) => `${number}`)]),
  );
  const onField = (clause: string, value: fc.Arbitrary<unknown>) =>
    fc.tuple(field, value).map(([name, one]) => ({ [clause]: { [name]: one } }));
  const query = fc.oneof(
    onField("terms", many),
    ...["term", "prefix", "fuzzy", "wildcard", "match_phrase"].map((clause) => onField(clause, text)),
    // A phrase prefix never matches a keyword.
    fc
      .tuple(fc.constantFrom("message", "tags"), text)
      .map(([name, one]) => ({ match_phrase_prefix: { [name]: one } })),
    onField(
      "match",
      text.map((word) => ({ query: `full ${word}`, fuzziness: 1 })),
    ),
    many.map((values) => ({ ids: { values } })),
    fc
      .tuple(many, fc.constantFrom("best_fields", "cross_fields", "phrase", "bool_prefix"))
      .map(([words, type]) => ({
        multi_match: { query: words.slice(0, 20).join(" "), type, fields: ["message", "tags", "o.m"] },
      })),
    text.map((word) => ({ query_string: { query: `"${word}" OR ${word}*`, fields: ["message", "tags"] } })),
  );
  const aggs = fc.oneof(
    fc.tuple(text, text).map(([name, missing]) => ({
      [name]: { terms: { field: "tags.keyword", missing } },
    })),
    many.map((include) => ({ a: { terms: { field: "message.keyword", include } } })),
    text.map((s) => ({
      a: { composite: { sources: [{ s: { terms: { field: "tags.keyword" } } }], after: { s } } },
    })),
  );

  test("in queries and aggregations is a text like any other", async () => {
    await fc.assert(
      fc.asyncProperty(query, aggs, async (one, other) => {
        const { status, body } = await sandbox.raw("POST", "/logs/_search", { query: one, aggs: other });
        // A numeric field refuses other values.
        if (!JSON.stringify(one).includes('"bytes"'))
          expect({ status, error: body.error }).toEqual({ status: 200 });
        else expect([200, 400]).toContain(status);
      }),
      { numRuns: 40 },
    );
  });

  test("in ES|QL, its parameters and its names is a text like any other", async () => {
    for (const [esql, ...params] of [
      ['FROM logs | WHERE message == "\ud800"'],
      ["FROM logs | WHERE message == ? | LIMIT 1", "\ud800"],
      ["ROW `a\ud800` = 1, b = ? | EVAL c = CONCAT(b, b)", "x\udc00"],
    ]) {
      const { status, body } = await sandbox.raw("POST", "/_query", { query: esql, params });
      expect({ status, error: body.error }).toEqual({ status: 200 });
    }
  });
});

/** Errors of Elasticsearch 8.15.0. */
describe("a value of another kind is refused in the vendor's words", () => {
  const object = { a: 1 };
  const kind = (place: string, parser: string, member: string, token: string) => ({
    type: "x_content_parse_exception",
    reason: `[${place}] [${parser}] ${member} doesn't support values of type: ${token}`,
  });
  const item = (place: string, parser: string, member: string, cause: string) => ({
    type: "x_content_parse_exception",
    reason: `[${place}] [${parser}] failed to parse field [${member}]`,
    caused_by: { reason: cause },
  });
  const missing = {
    type: "action_request_validation_exception",
    reason: "Validation Failed: 1: text is missing;",
  };
  const analyze = "/_analyze";
  const search = "/logs/_search";
  const caps = "/logs/_field_caps";

  test.each<[path: string, body: unknown, error: object]>([
    [analyze, {}, missing],
    [analyze, { text: [] }, missing],
    [analyze, { text: object }, kind("1:9", "analyze_request", "text", "START_OBJECT")],
    [analyze, { text: null }, kind("1:9", "analyze_request", "text", "VALUE_NULL")],
    [analyze, { text: 1 }, kind("1:9", "analyze_request", "text", "VALUE_NUMBER")],
    [
      analyze,
      { text: [object] },
      item("1:10", "analyze_request", "text", "Can't get text on a START_OBJECT at 1:10"),
    ],
    [
      analyze,
      { text: [1, true, [2]] },
      item("1:17", "analyze_request", "text", "expected value but got [START_ARRAY]"),
    ],
    [analyze, { text: "a", analyzer: object }, kind("1:24", "analyze_request", "analyzer", "START_OBJECT")],
    [analyze, { text: "a", field: 1 }, kind("1:21", "analyze_request", "field", "VALUE_NUMBER")],
    [analyze, { text: "a", tokenizer: 1 }, kind("1:25", "analyze_request", "tokenizer", "VALUE_NUMBER")],
    [analyze, { text: "a", tokenizer: {} }, { reason: "Missing [type] setting for anonymous tokenizer: {}" }],
    [analyze, { text: "a", tokenizer: "nope" }, { reason: "failed to find global tokenizer under [nope]" }],
    [analyze, { text: "a", filter: "lowercase" }, kind("1:22", "analyze_request", "filter", "VALUE_STRING")],
    [
      analyze,
      { text: "a", filter: [1] },
      { reason: "[1:23] [analyze_request] failed to parse field [filter]" },
    ],
    [analyze, { text: "a", explain: object }, kind("1:23", "analyze_request", "explain", "START_OBJECT")],
    [analyze, { text: "a", nope: object }, { reason: "[1:13] [analyze_request] unknown field [nope]" }],
    [
      analyze,
      { text: "a", analyzer: "standard", tokenizer: "standard" },
      { reason: "Validation Failed: 1: cannot define extra components on a named analyzer;" },
    ],
    [search, { sort: [{ a: { order: object } }] }, kind("1:24", "field_sort", "order", "START_OBJECT")],
    [search, { sort: [{ a: { mode: [1] } }] }, kind("1:23", "field_sort", "mode", "START_ARRAY")],
    [search, { sort: [{ a: { format: object } }] }, kind("1:25", "field_sort", "format", "START_OBJECT")],
    [
      search,
      { sort: [{ a: { unmapped_type: null } }] },
      kind("1:32", "field_sort", "unmapped_type", "VALUE_NULL"),
    ],
    [
      search,
      { sort: [{ a: { numeric_type: true } }] },
      kind("1:31", "field_sort", "numeric_type", "VALUE_BOOLEAN"),
    ],
    [search, { sort: [{ a: { missing: object } }] }, kind("1:26", "field_sort", "missing", "START_OBJECT")],
    [search, { sort: [{ a: { mode: "x" } }] }, item("1:23", "field_sort", "mode", "Unknown SortMode [x]")],
    [search, { sort: [{ a: { nope: 1 } }] }, { reason: "[1:16] [field_sort] unknown field [nope]" }],
    [search, { sort: [{ _score: { order: {} } }] }, kind("1:29", "_score", "order", "START_OBJECT")],
    [search, { highlight: { pre_tags: object } }, kind("1:26", "highlight", "pre_tags", "START_OBJECT")],
    [
      search,
      { highlight: { post_tags: [null] } },
      item("1:28", "highlight", "post_tags", "Can't get text on a VALUE_NULL at 1:28"),
    ],
    [caps, { fields: object }, kind("1:11", "field_caps_request", "fields", "START_OBJECT")],
    [
      caps,
      { fields: [object] },
      item("1:12", "field_caps_request", "fields", "Can't get text on a START_OBJECT at 1:12"),
    ],
    [caps, {}, { reason: "Validation Failed: 1: no fields specified;" }],
  ])("%s %j", async (path, body, error) => {
    const answer = await sandbox.raw("POST", path, body);
    expect(answer).toMatchObject({ status: 400, body: { error } });
  });

  test("a header of _msearch stringifies any value as Java does", async () => {
    const headers = [
      { index: object },
      { index: ["logs", object] },
      { index: { toString: null } },
      { index: 1 },
    ];
    const body = headers.map((header) => lines(header, {})).join("");
    const { status, body: answer } = await sandbox.raw("POST", "/_msearch", body, ndjson);
    expect(status).toBe(200);
    expect(answer.responses.map(({ error }: { error: { reason: string } }) => error.reason)).toEqual([
      "no such index [{a=1}]",
      "no such index [{a=1}]",
      "no such index [{toString=null}]",
      "no such index [1]",
    ]);
    for (const member of ["ignore_unavailable", "expand_wildcards"]) {
      const refused = await sandbox.raw("POST", "/_msearch", lines({ [member]: object }, {}), ndjson);
      expect(refused).toMatchObject({ status: 400, body: { error: { type: "illegal_argument_exception" } } });
      expect(JSON.stringify(refused.body)).toContain("{a=1}");
    }
  });
});

describe("members named like those of Object.prototype", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];
  const paths = [
    "timeout",
    "stored_fields",
    "track_total_hits",
    "min_score",
    "search_after",
    "sort",
    "size",
    "fields",
  ];
  test.each(names)("%s", async (name) => {
    const own = JSON.parse(`{"${name}":1}`);
    for (const member of paths) {
      const { status } = await sandbox.raw("POST", "/logs/_search", { [member]: own });
      expect({ member, status }).toEqual({ member, status: 400 });
    }
    const searched = await sandbox.raw("POST", "/_msearch", `{}\n{"${name}":1}\n`, ndjson);
    expect(JSON.stringify(searched.body)).toContain(`Unknown key for a VALUE_NUMBER in [${name}]`);
  });

  test.each(["?pretty=x", "?filter_path=a,-b"])("%s is no failure of the twin", async (parameters) => {
    const { status } = await sandbox.raw("POST", `/logs/_search${parameters}`, {});
    expect(status).toBeLessThan(500);
  });
});

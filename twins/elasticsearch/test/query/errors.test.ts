import type { LogStore } from "@offhook/log-store/store/log-store";
import { processorMsOf } from "@offhook/platform/testing/processor-time";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { locateIn } from "../../json/position.ts";
import { readJson } from "../../json/read.ts";
import { minimumShouldMatch } from "../../query/compile/minimum-should-match.ts";
import { compileQuery, compileQueryString } from "../../query/compile.ts";
import { VendorError } from "../../vendor/error.ts";
import type { Fidelity } from "../../vendor/fidelity.ts";
import { compile, errorOf, idsOf, nowMs, storeOf } from "./support.ts";

describe("a query that is refused", () => {
  let store: LogStore;
  beforeAll(async () => {
    store = await storeOf([{ message: "x", n: 1, when: "2026-01-01T00:00:00Z", ok: true, big: 1.5 }]);
  });
  afterAll(() => store.close());

  /** The error for the text of a request. */
  function refused(text: string, fidelity: Fidelity = "vendor"): VendorError {
    const body = readJson(text);
    const query = typeof body === "object" && body !== null && !Array.isArray(body) ? body.query : undefined;
    return errorOf(() =>
      compileQuery(query, {
        fields: store.fields,
        fidelity,
        nowMs,
        index: "logs",
        locate: locateIn(text, ["query"]),
      }),
    );
  }

  test("reports the position of an unknown query", () => {
    const { cause } = refused('{"query":{"foo":{}}}');
    expect(cause).toEqual({
      type: "parsing_exception",
      reason: "unknown query [foo]",
      line: 1,
      col: 17,
      caused_by: { type: "named_object_not_found_exception", reason: "[1:17] unknown field [foo]" },
    });
  });

  test("reports the enclosing clause", () => {
    const { cause, rootCause } = refused('{"query":\n{"bool":{"must":[{"match_all":{}},{"foo":{}}]}}}');
    expect(cause).toMatchObject({
      type: "x_content_parse_exception",
      reason: "[2:42] [bool] failed to parse field [must]",
      caused_by: { type: "parsing_exception", reason: "unknown query [foo]" },
    });
    expect(rootCause).toMatchObject({ type: "parsing_exception", line: 2, col: 42 });
  });

  const errors: [text: string, type: string, reason: string][] = [
    ['{"range":{"n":{"foo":1}}}', "parsing_exception", "[range] query does not support [foo]"],
    ['{"bool":{"foo":1}}', "x_content_parse_exception", "[1:19] [bool] unknown field [foo]"],
    [
      '{"bool":{"mus":[]}}',
      "x_content_parse_exception",
      "[1:19] [bool] unknown field [mus] did you mean [must]?",
    ],
    ["{}", "illegal_argument_exception", "query malformed, empty clause found at [1:11]"],
    ['"x"', "parsing_exception", "[_na] query malformed, must start with start_object"],
    ['{"term":[]}', "parsing_exception", "[term] query malformed, no start_object after query name"],
    [
      '{"match_all":{},"term":{}}',
      "parsing_exception",
      "[match_all] malformed query, expected [END_OBJECT] but found [FIELD_NAME]",
    ],
    [
      '{"term":{"a":1,"b":2}}',
      "parsing_exception",
      "[term] query doesn't support multiple fields, found [a] and [b]",
    ],
    ['{"term":{"a":[1]}}', "parsing_exception", "[term] query does not support array of values"],
    ['{"match":{"a":{"query":"x","operator":"xor"}}}', "illegal_argument_exception", "No enum constant"],
    [
      '{"match":{"a":{"query":"x","fuzziness":"3"}}}',
      "illegal_argument_exception",
      "Valid edit distances are [0, 1, 2] but was [3]",
    ],
    ['{"match_none":{"boost":-1}}', "illegal_argument_exception", "negative [boost] are not allowed"],
    ['{"match_none":{"boost":"x"}}', "number_format_exception", 'For input string: "x"'],
    ['{"match_all":{"boost":"x"}}', "parsing_exception", "[1:32] [match_all] failed to parse field [boost]"],
    ['{"terms":{"n":{"index":"a","id":"1","path":"p"}}}', "illegal_argument_exception", "lookup"],
    ['{"exists":{}}', "parsing_exception", "[exists] must be provided with a [field]"],
  ];
  test.each(errors)("%s", (query, type, reason) => {
    const { cause } = refused(`{"query":${query}}`);
    expect(cause.type).toBe(type);
    expect(cause.reason).toContain(reason);
  });

  const unfit: [query: object, reason: string][] = [
    ...["x", "", "33.3%", "<3", "0<x", "1 2", "100000000000", "%", "2%%"].map(
      (minimum): [query: object, reason: string] => [
        { bool: { must_not: { term: { n: 1 } }, should: { match_all: {} }, minimum_should_match: minimum } },
        "failed to create query: For input string: ",
      ],
    ),
    [{ term: { n: "abc" } }, 'failed to create query: For input string: "abc"'],
    [{ range: { n: { gte: "abc" } } }, 'failed to create query: For input string: "abc"'],
    [
      { term: { ok: "yes" } },
      "failed to create query: Can't parse boolean value [yes], expected [true] or [false]",
    ],
    [{ match: { n: "abc" } }, 'failed to create query: For input string: "abc"'],
    [{ wildcard: { n: "a*" } }, "Can only use wildcard queries on keyword, text and wildcard fields"],
    [
      { nested: { path: "nope", query: { match_all: {} } } },
      "failed to find nested object under path [nope]",
    ],
    [{ match: { message: { query: "x", analyzer: "nope" } } }, "analyzer [nope] not found"],
  ];
  test.each(unfit)("%j does not fit its field, in vendor", async (query, reason) => {
    const { cause, rootCause } = errorOf(() => compile(store, query, "vendor"));
    expect(cause).toMatchObject({ type: "search_phase_execution_exception", reason: "all shards failed" });
    // A date's error is the vendor's own, and the root cause; a number's is Java's, wrapped in one of the vendor's.
    const type = reason.startsWith("failed to parse date") ? "parse_exception" : "query_shard_exception";
    expect(rootCause?.type).toBe(type);
    expect(rootCause?.reason).toContain(reason);
  });

  test("an unfit value matches nothing in specification, and with lenient", async () => {
    expect(await idsOf(store, { term: { n: "abc" } })).toEqual([]);
    expect(await idsOf(store, { range: { when: { gte: "soon" } } })).toEqual([]);
    expect(await idsOf(store, { match: { n: { query: "abc", lenient: true } } }, "vendor")).toEqual([]);
    expect(await idsOf(store, { bool: { must_not: { term: { n: "abc" } } } })).toEqual(["0"]);
  });

  test("a range of characters that runs backwards is refused", () => {
    const { cause } = errorOf(() => compile(store, { regexp: { message: "[w-1]" } }, "vendor"));
    expect(JSON.stringify(cause)).toContain("invalid range: from (119) cannot be > to (49)");
  });

  test("nesting is bounded", () => {
    const nested = (depth: number) => {
      let query: object = { match_all: {} };
      for (let level = 1; level < depth; level++) query = { bool: { must: [query] } };
      return query;
    };
    expect(() => compile(store, nested(30))).not.toThrow();
    let cause = errorOf(() => compile(store, nested(31))).cause;
    while (cause.caused_by) cause = cause.caused_by;
    expect(cause.reason).toBe(
      "The nested depth of the query exceeds the maximum nested depth for queries set in [indices.query.bool.max_nested_depth]",
    );
  });

  test("clauses are bounded", () => {
    const should = Array.from({ length: 5000 }, (_, n) => ({ term: { n } }));
    expect(errorOf(() => compile(store, { bool: { should } })).cause.type).toBe("too_many_nested_clauses");
    const words = Array.from({ length: 5000 }, (_, n) => `w${n}`).join(" ");
    expect(errorOf(() => compile(store, { match: { message: words } })).cause.type).toBe(
      "too_many_nested_clauses",
    );
    const values = Array.from({ length: 65_537 }, (_, n) => n);
    expect(errorOf(() => compile(store, { terms: { n: values } })).rootCause?.reason).toContain("[65537]");
  });

  test("the highest allowed numbers of values and words work", async () => {
    const values = Array.from({ length: 65_536 }, (_, n) => n);
    expect(await idsOf(store, { terms: { n: values } })).toEqual(["0"]);
    expect(await idsOf(store, { terms: { "message.keyword": values.map((n) => `v${n}`) } })).toEqual([]);
    const words = `x ${Array.from({ length: 3000 }, (_, n) => `w${n}`).join(" ")}`;
    expect(await idsOf(store, { match: { message: words } })).toEqual(["0"]);
    expect(await idsOf(store, { match_phrase: { message: words } })).toEqual([]);
  });

  test("long and hostile texts end in bounded time", async () => {
    const megabyte = 1 << 20;
    const texts = [
      "(".repeat(megabyte),
      "a AND ".repeat(megabyte / 6),
      `${"-".repeat(megabyte)}a`,
      "*".repeat(megabyte),
      `/${"(".repeat(megabyte)}/`,
      `"${"a ".repeat(megabyte / 2)}"`,
      "a:".repeat(megabyte / 2),
      "\\".repeat(megabyte + 1),
      `[${" ".repeat(megabyte)}`,
      "a~".repeat(megabyte / 2),
      "x^1".repeat(megabyte / 3),
    ];
    for (const query of texts) {
      for (const clause of ["query_string", "simple_query_string"]) {
        const context = { fields: store.fields, fidelity: "vendor", nowMs, index: "logs" } as const;
        const tookMs = processorMsOf(() => {
          try {
            compileQuery({ [clause]: { query } }, context);
          } catch (error) {
            expect(error).toBeInstanceOf(VendorError);
          }
        });
        expect(tookMs, `${clause} ${query.slice(0, 10)}`).toBeLessThan(10_000);
      }
    }
  });

  test("any query string compiles and runs, or is the vendor's error", async () => {
    const piece = fc.constantFrom(
      ..."message n:1 when:2026 AND OR NOT + - ! ( ) [ ] { } \" ~ ^ * ? / \\ : > < = && || TO [1 TO 2] now-1d x* *x ~1 ^2 \\u0041 é 😀 ' ; --".split(
        " ",
      ),
      " ",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 12 }),
        fc.string({ maxLength: 20 }),
        async (pieces, text) => {
          for (const query of [pieces.join(""), pieces.join(" "), text]) {
            const context = { fields: store.fields, fidelity: "vendor" as const, nowMs, index: "logs" };
            const asked = [
              () => compileQueryString(query, {}, context),
              () => compileQueryString(query, { defaultField: "message", defaultOperator: "AND" }, context),
              () => compileQuery({ simple_query_string: { query } }, context),
              () => compileQuery({ regexp: { "message.keyword": query } }, context),
              () => compileQuery({ wildcard: { "message.keyword": query } }, context),
              () => compileQuery({ match_phrase: { message: { query, slop: 2 } } }, context),
            ];
            for (const ask of asked) {
              try {
                await store.query(ask().scored);
              } catch (error) {
                expect(error).toBeInstanceOf(VendorError);
              }
            }
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  test("any JSON is a query or a vendor's error", async () => {
    const name = fc.constantFrom(
      "bool",
      "must",
      "term",
      "range",
      "n",
      "gte",
      "query",
      "match",
      "boost",
      "terms",
      "filter",
      "exists",
      "field",
    );
    const { json } = fc.letrec<{ json: unknown }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom(null, 1, "x", true, "", 1e300, -0, 2n ** 70n),
        fc.array(tie("json"), { maxLength: 3 }),
        fc.dictionary(name, tie("json"), { maxKeys: 3 }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(
        json,
        fc.constantFrom<Fidelity>("vendor", "specification"),
        async (query, fidelity) => {
          try {
            await store.query(
              compileQuery(query, { fields: store.fields, fidelity, nowMs, index: "logs" }).scored,
            );
          } catch (error) {
            expect(error).toBeInstanceOf(VendorError);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("minimum_should_match", () => {
  const cases: [written: string, clauses: number, minimum: number][] = [
    ["2", 5, 2],
    ["-2", 5, 3],
    ["75%", 4, 3],
    ["75%", 5, 3],
    ["-25%", 4, 3],
    ["-25%", 5, 4],
    ["100%", 7, 7],
    ["3<90%", 3, 3],
    ["3<90%", 10, 9],
    ["2<-25% 9<-3", 2, 2],
    ["2<-25% 9<-3", 8, 6],
    ["2<-25% 9<-3", 12, 9],
    ["2 < 50%", 6, 3],
    ["-9", 5, 0],
    ["0", 5, 0],
    ["+2", 5, 2],
    [" 2 ", 5, 2],
    ["9", 5, 9],
    ["0%", 3, 0],
    ["-0%", 3, 0],
    ["75%", 1, 0],
    ["99%", 1, 0],
    ["120%", 5, 6],
    ["-40%", 2, 2],
    ["-1%", 50, 50],
    ["-100%", 4, 0],
    ["-120%", 4, 0],
    ["3<90%", 0, 0],
    ["-1<2", 0, 2],
    ["1\t<\t2", 3, 2],
    ["2<-25%  3<-3", 4, 1],
    ["1<2 2<-50% 4<4", 3, 2],
    ["1<2 2<-50% 4<4", 9, 4],
    // Conditions apply in the order of the text.
    ["5<1 2<2", 4, 4],
    ["0<1<2", 4, 1],
    ["5<x", 5, 5],
  ];
  test.each(cases)("%s of %i clauses is %i", (written, clauses, minimum) => {
    expect(minimumShouldMatch(written, clauses)).toBe(minimum);
  });
});

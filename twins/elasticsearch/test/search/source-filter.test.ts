/** Sources of two documents by `_source` filter, as Elasticsearch 8.15.0 answers them. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

const first = {
  "http.method": "GET",
  "http.status": 200,
  a: { b: 1, c: [{ d: 1, e: 2 }, { e: 3 }] },
  http: { z: 1 },
  empty: {},
  arr: [],
  nul: null,
  arr2: [{}],
  "a.q.c": 5,
};
const second = {
  w: { y: { z: 1 } },
  "w.y.q": 2,
  "w.v": 3,
  o: [{ m: 1 }, { m: 2, n: 3, p: [] }],
};

const answers: [asked: string[] | Record<string, string[]>, first: object, second: object][] = [
  [["http"], { http: { z: 1 }, "http.method": "GET", "http.status": 200 }, {}],
  [["http.*"], { http: { z: 1 }, "http.method": "GET", "http.status": 200 }, {}],
  [["*.method"], { "http.method": "GET" }, {}],
  [["*.d"], {}, {}],
  [["a.c.d"], { a: { c: [{ d: 1 }] } }, {}],
  [["w.y"], {}, { w: { y: { z: 1 } }, "w.y.q": 2 }],
  [["w.*"], {}, { w: { y: { z: 1 } }, "w.v": 3, "w.y.q": 2 }],
  [["o.m"], {}, { o: [{ m: 1 }, { m: 2 }] }],
  [
    ["*"],
    {
      a: { b: 1, c: [{ d: 1, e: 2 }, { e: 3 }] },
      "a.q.c": 5,
      arr: [],
      arr2: [{}],
      empty: {},
      http: { z: 1 },
      "http.method": "GET",
      "http.status": 200,
      nul: null,
    },
    { o: [{ m: 1 }, { m: 2, n: 3, p: [] }], w: { y: { z: 1 } }, "w.v": 3, "w.y.q": 2 },
  ],
  [["nope"], {}, {}],
  [["h*p"], { http: { z: 1 }, "http.method": "GET", "http.status": 200 }, {}],
  [["a.b", "o.p"], { a: { b: 1 } }, { o: [{ p: [] }] }],
  [
    { excludes: ["http"] },
    { a: { b: 1, c: [{ d: 1, e: 2 }, { e: 3 }] }, "a.q.c": 5, arr: [], arr2: [{}], empty: {}, nul: null },
    { o: [{ m: 1 }, { m: 2, n: 3, p: [] }], w: { y: { z: 1 } }, "w.v": 3, "w.y.q": 2 },
  ],
  [
    { excludes: ["http.*"] },
    {
      a: { b: 1, c: [{ d: 1, e: 2 }, { e: 3 }] },
      "a.q.c": 5,
      arr: [],
      arr2: [{}],
      empty: {},
      http: {},
      nul: null,
    },
    { o: [{ m: 1 }, { m: 2, n: 3, p: [] }], w: { y: { z: 1 } }, "w.v": 3, "w.y.q": 2 },
  ],
  [
    { excludes: ["http.z"] },
    {
      a: { b: 1, c: [{ d: 1, e: 2 }, { e: 3 }] },
      "a.q.c": 5,
      arr: [],
      arr2: [{}],
      empty: {},
      "http.method": "GET",
      "http.status": 200,
      nul: null,
    },
    { o: [{ m: 1 }, { m: 2, n: 3, p: [] }], w: { y: { z: 1 } }, "w.v": 3, "w.y.q": 2 },
  ],
  [
    { excludes: ["*.method"] },
    {
      a: { b: 1, c: [{ d: 1, e: 2 }, { e: 3 }] },
      "a.q.c": 5,
      arr: [],
      arr2: [],
      empty: {},
      http: { z: 1 },
      "http.status": 200,
      nul: null,
    },
    { o: [{ m: 1 }, { p: [], m: 2, n: 3 }], w: { y: { z: 1 } }, "w.v": 3, "w.y.q": 2 },
  ],
  [
    { excludes: ["*.d"] },
    {
      a: { b: 1, c: [{ e: 2 }, { e: 3 }] },
      "a.q.c": 5,
      arr: [],
      arr2: [],
      empty: {},
      http: { z: 1 },
      "http.method": "GET",
      "http.status": 200,
      nul: null,
    },
    { o: [{ m: 1 }, { p: [], m: 2, n: 3 }], w: { y: { z: 1 } }, "w.v": 3, "w.y.q": 2 },
  ],
  [
    { excludes: ["a.c.d"] },
    {
      a: { b: 1, c: [{ e: 2 }, { e: 3 }] },
      "a.q.c": 5,
      arr: [],
      arr2: [{}],
      empty: {},
      http: { z: 1 },
      "http.method": "GET",
      "http.status": 200,
      nul: null,
    },
    { o: [{ m: 1 }, { m: 2, n: 3, p: [] }], w: { y: { z: 1 } }, "w.v": 3, "w.y.q": 2 },
  ],
  [
    { excludes: ["a.c"] },
    {
      a: { b: 1 },
      "a.q.c": 5,
      arr: [],
      arr2: [{}],
      empty: {},
      http: { z: 1 },
      "http.method": "GET",
      "http.status": 200,
      nul: null,
    },
    { o: [{ m: 1 }, { m: 2, n: 3, p: [] }], w: { y: { z: 1 } }, "w.v": 3, "w.y.q": 2 },
  ],
  [{ excludes: ["*"] }, {}, {}],
  [
    { excludes: ["empty.x"] },
    {
      a: { b: 1, c: [{ d: 1, e: 2 }, { e: 3 }] },
      "a.q.c": 5,
      arr: [],
      arr2: [{}],
      http: { z: 1 },
      "http.method": "GET",
      "http.status": 200,
      nul: null,
    },
    { o: [{ m: 1 }, { m: 2, n: 3, p: [] }], w: { y: { z: 1 } }, "w.v": 3, "w.y.q": 2 },
  ],
  [
    { excludes: ["arr2.x"] },
    {
      a: { b: 1, c: [{ d: 1, e: 2 }, { e: 3 }] },
      "a.q.c": 5,
      arr: [],
      empty: {},
      http: { z: 1 },
      "http.method": "GET",
      "http.status": 200,
      nul: null,
    },
    { o: [{ m: 1 }, { m: 2, n: 3, p: [] }], w: { y: { z: 1 } }, "w.v": 3, "w.y.q": 2 },
  ],
  [{ includes: ["a"], excludes: ["*.d"] }, { a: { b: 1, c: [{ e: 2 }, { e: 3 }] }, "a.q.c": 5 }, {}],
  [
    { includes: ["*.method", "w"], excludes: ["w.y.*"] },
    { "http.method": "GET" },
    { w: { y: {} }, "w.v": 3 },
  ],
  [{ includes: ["a.c"], excludes: ["a.c.d"] }, { a: { c: [{ e: 2 }, { e: 3 }] } }, {}],
  [{ includes: ["http"], excludes: ["http.method"] }, { http: { z: 1 }, "http.status": 200 }, {}],
  [{ includes: ["*.m"], excludes: ["o.n*"] }, {}, { o: [{ m: 1 }, { m: 2 }] }],
  [
    { includes: ["http*"], excludes: ["http.z*"] },
    { http: {}, "http.method": "GET", "http.status": 200 },
    {},
  ],
];

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  await sandbox.raw("PUT", "/logs/_doc/1", first);
  await sandbox.raw("PUT", "/logs/_doc/2", second);
});
afterAll(() => sandbox.stop());

test("a pattern covers what is below it, dotted names included, and drops objects that it empties", async () => {
  for (const [asked, ...expected] of answers) {
    const { body } = await sandbox.raw("POST", "/logs/_search", { _source: asked, sort: ["_doc"] });
    const found = body.hits.hits.map(({ _source }: { _source: object }) => _source);
    expect({ asked, found }).toEqual({ asked, found: expected });
  }
});

test("a single document and a list of them are filtered in the same way", async () => {
  const { body: got } = await sandbox.raw("GET", "/logs/_doc/1?_source_includes=http");
  expect(got._source).toEqual({ "http.method": "GET", "http.status": 200, http: { z: 1 } });
  const { body: source } = await sandbox.raw("GET", "/logs/_source/1?_source_excludes=http,a,*2,e*,arr,nul");
  expect(source).toEqual({});
  const { body } = await sandbox.raw("POST", "/logs/_mget", {
    docs: [{ _id: "2", _source: { exclude: ["w"] } }],
  });
  expect(body.docs[0]._source).toEqual({ o: second.o });
});

test("a pattern of many stars matches a long name in linear time", async () => {
  await sandbox.raw("PUT", "/long/_doc/1", { ["a".repeat(200)]: 1 });
  const asked = { excludes: ["*a".repeat(200), "*".repeat(50_000), `${"*a".repeat(100)}b`].slice(0, 3) };
  const { status, body } = await sandbox.raw("POST", "/long/_search", { _source: asked });
  expect({ status, hits: body.hits.hits.map(({ _source }: { _source: object }) => _source) }).toEqual({
    status: 200,
    hits: [{}],
  });
});

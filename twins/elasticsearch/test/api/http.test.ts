/** The frame of every route: forms, parameters, filters, errors. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch();
  await sandbox.raw("PUT", "/logs/_doc/1", '{"a": {"b": 1.0, "c": 9007199254740993}, "d.e": "x"}');
});
afterAll(() => sandbox.stop());

const get = (path: string, headers: Record<string, string> = {}) =>
  sandbox.raw("GET", path, undefined, headers);

describe("forms", () => {
  const vendorJson = "application/vnd.elasticsearch+json; compatible-with=8";

  test("every answer names its product", async () => {
    for (const path of ["/", "/nope", "/a/b/c/d", "/_search?foo=1"]) {
      expect((await get(path)).headers.get("x-elastic-product")).toBe("Elasticsearch");
    }
  });

  test("an answer has the form that was accepted, else that of the body, else JSON", async () => {
    const typeOf = async (headers: Record<string, string>, body?: object) =>
      (await sandbox.raw(body ? "POST" : "GET", "/_search", body, headers)).headers.get("content-type");
    expect(await typeOf({})).toBe("application/json");
    expect(await typeOf({ accept: vendorJson })).toBe("application/vnd.elasticsearch+json;compatible-with=8");
    expect(await typeOf({ accept: "*/*", "content-type": vendorJson }, {})).toBe(
      "application/vnd.elasticsearch+json;compatible-with=8",
    );
    expect(await typeOf({ accept: `${vendorJson},text/plain` })).toBe("application/json");
    const yaml = await get("/_count?format=yaml");
    expect(yaml.headers.get("content-type")).toBe("application/yaml");
    expect(yaml.text).toMatch(/^---\ncount: 1\n/);
  });

  test("an unsupported version is a 400, and an unreadable form a 406", async () => {
    const other = await get("/", { accept: "application/vnd.elasticsearch+json; compatible-with=9" });
    expect(other).toMatchObject({
      status: 400,
      body: {
        error: {
          type: "media_type_header_exception",
          reason: "Invalid media-type value on headers [Accept]",
          caused_by: {
            type: "status_exception",
            reason:
              "Accept version must be either version 8 or 7, but found 9. Accept=application/vnd.elasticsearch+json; compatible-with=9",
          },
        },
      },
    });
    const text = await sandbox.raw("POST", "/_search", "{}", { "content-type": "text/plain" });
    expect(text).toMatchObject({
      status: 406,
      body: { error: "Content-Type header [text/plain] is not supported", status: 406 },
    });
  });

  test("the opaque id comes back", async () => {
    expect((await get("/", { "x-opaque-id": "call-7" })).headers.get("x-opaque-id")).toBe("call-7");
  });
});

describe("errors", () => {
  test("an unknown parameter is named, with a suggestion", async () => {
    expect((await get("/logs/_search?sizze=1&zzz=2")).body).toEqual({
      error: {
        root_cause: [expect.objectContaining({ type: "illegal_argument_exception" })],
        type: "illegal_argument_exception",
        reason:
          "request [/logs/_search] contains unrecognized parameters: [sizze] -> did you mean [size]?, [zzz]",
      },
      status: 400,
    });
    expect((await get("/_search?size=many")).body.error).toMatchObject({
      reason: "Failed to parse int parameter [size] with value [many]",
      caused_by: { type: "number_format_exception", reason: 'For input string: "many"' },
    });
  });

  test("an unsupported method is a 405 that lists the others, and an unknown route a 400", async () => {
    const wrong = await sandbox.raw("PUT", "/_search");
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get("allow")).toBe("POST,GET");
    expect(wrong.body).toEqual({
      error: "Incorrect HTTP method for uri [/_search] and method [PUT], allowed: [POST, GET]",
      status: 405,
    });
    expect(await get("/a/b/c/d")).toMatchObject({
      status: 400,
      body: { error: "no handler found for uri [/a/b/c/d] and method [GET]" },
    });
  });

  test("broken JSON is located", async () => {
    const ask = async (text: string) => (await sandbox.raw("POST", "/_search", text)).body.error;
    expect(await ask('{"size": 1,\n x}')).toMatchObject({
      type: "x_content_parse_exception",
      reason: expect.stringMatching(/^\[2:2\] Unexpected character \('x' \(code 120\)\)/),
    });
    expect(await ask('{"query": {')).toMatchObject({
      type: "x_content_e_o_f_exception",
      caused_by: { type: "json_e_o_f_exception" },
    });
    expect(await ask('{"size": 1, "size": 2}')).toMatchObject({ reason: "[1:13] Duplicate field 'size'" });
    expect(await ask("[".repeat(100_000))).toMatchObject({
      reason: expect.stringContaining("Document nesting depth (1001) exceeds"),
    });
    expect(await ask('{"size": 1, "what": {}}')).toMatchObject({
      type: "parsing_exception",
      reason: expect.stringMatching(/^Unknown key for a START_OBJECT in \[what\]; a model can take over/),
      line: 1,
      col: 21,
    });
  });

  test("unserved members are refused by name", async () => {
    for (const name of ["knn", "rescore", "suggest", "script_fields", "runtime_mappings"]) {
      const answer = await sandbox.raw("POST", "/_search", { [name]: { some: "thing" } });
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { reason: expect.stringContaining(`[${name}]`) } },
      });
    }
    const script = await sandbox.raw("POST", "/logs/_update/1", { script: "ctx._source.a = 1" });
    expect(script).toMatchObject({
      status: 400,
      body: { error: { reason: expect.stringContaining("[script]") } },
    });
  });
});

describe("filter_path", () => {
  test.each([
    ["took,hits.total.value", { took: expect.any(Number), hits: { total: { value: 1 } } }],
    ["hits.hits._source.a.b", { hits: { hits: [{ _source: { a: { b: 1 } } }] } }],
    ["**.value", { hits: { total: { value: 1 } } }],
    ["hits.hits._*,-**._source", { hits: { hits: [{ _index: "logs", _id: "1", _score: 1 }] } }],
    ["-took,-hits,-_shards", { timed_out: false }],
    ["none", {}],
    ["none,-took", {}],
  ])("%s", async (filter, expected) => {
    expect((await get(`/_search?filter_path=${encodeURIComponent(filter)}`)).body).toEqual(expected);
  });

  const notBoolean = "Failed to parse value [x] as only [true] or [false] are allowed.";
  test.each<[flag: string, error: unknown]>([
    ["pretty", { reason: notBoolean }],
    ["human", { reason: notBoolean }],
    // Its value decides the form of errors, so its own error is plain.
    ["error_trace", notBoolean],
  ])("%s takes true and false alone", async (flag, error) => {
    for (const path of ["_search", "nope/_search", "_msearch", "_search/scroll/x"]) {
      expect(await get(`/${path}?${flag}=x`)).toMatchObject({ status: 400, body: { error } });
    }
  });

  test("too many paths are refused", async () => {
    const { status } = await get(`/_search?filter_path=${"a,".repeat(1001)}`);
    expect(status).toBe(400);
  });

  test("keeps numbers as they were written", async () => {
    const { text } = await get("/_search?filter_path=hits.hits._source.a");
    expect(text).toBe('{"hits":{"hits":[{"_source":{"a":{"b":1.0,"c":9007199254740993}}}]}}');
  });

  test("pretty answers are indented as the vendor indents", async () => {
    const { text } = await get("/_search?pretty&filter_path=hits.hits._source.a,hits.total");
    expect(text).toContain('  "hits" : {\n    "total" : {\n      "value" : 1,');
    expect(text.endsWith("}\n")).toBe(true);
  });
});

describe("cat", () => {
  test("tables are aligned, headed, chosen, sorted, and JSON when asked for", async () => {
    const table = await get("/_cat/indices?v&h=index,docs.count,health");
    expect(table.headers.get("content-type")).toBe("text/plain; charset=UTF-8");
    expect(table.text).toBe("index docs.count health\nlogs           1 green\n");
    expect((await get("/_cat/indices?format=json&h=index,dc")).body).toEqual([{ index: "logs", dc: "1" }]);
    expect((await get("/_cat/count?h=count")).text).toBe("1\n");
    expect((await get("/_cat/aliases?help")).text).toMatch(/^alias +\| a +\| alias name\n/);
    expect(await get("/_cat/indices?s=none")).toMatchObject({ status: 400 });
    expect(await sandbox.client.cat.health({ format: "json" })).toMatchObject([{ status: "green" }]);
  });
});

describe("clients find what they need around a search", () => {
  test("cluster, nodes and indices", async () => {
    const { client } = sandbox;
    expect(await client.cluster.health()).toMatchObject({ status: "green", number_of_nodes: 1 });
    expect(await client.nodes.info()).toMatchObject({ _nodes: { total: 1 } });
    const nodes = Object.values((await client.nodes.info()).nodes);
    expect(nodes).toMatchObject([{ version: "8.15.0", roles: ["data", "ingest", "master"] }]);
    expect(await client.nodes.stats()).toMatchObject({ _nodes: { total: 1 } });
    expect(await client.cluster.state()).toMatchObject({
      metadata: { indices: { logs: { state: "open" } } },
    });
    expect(await client.cluster.getSettings()).toEqual({ persistent: {}, transient: {} });
    expect(await client.indices.stats({ index: "logs" })).toMatchObject({
      _all: { primaries: { docs: { count: 1 } } },
    });
    expect(await client.indices.exists({ index: "logs" })).toBe(true);
    expect(await client.indices.exists({ index: "nope" })).toBe(false);
    expect(await client.indices.create({ index: "nope" })).toEqual({
      acknowledged: true,
      shards_acknowledged: true,
      index: "nope",
    });
    expect(await client.indices.exists({ index: "nope" })).toBe(false);
    expect(await client.indices.delete({ index: "logs" })).toEqual({ acknowledged: true });
    expect(await client.indices.resolveIndex({ name: "lo*" })).toEqual({
      indices: [{ name: "logs", attributes: ["open"] }],
      aliases: [],
      data_streams: [],
    });
    expect(await client.indices.getAlias({ index: "logs" })).toEqual({ logs: { aliases: {} } });
    expect(await client.indices.refresh({ index: "logs" })).toMatchObject({ _shards: { failed: 0 } });
    expect(await client.indices.putMapping({ index: "logs", properties: {} })).toEqual({
      acknowledged: true,
    });
    expect(await client.indices.getSettings({ index: "logs" })).toMatchObject({
      logs: { settings: { index: { number_of_shards: "1", provided_name: "logs" } } },
    });
  });

  test("mappings and fields as dynamic mapping makes them", async () => {
    const text = { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } };
    expect(await sandbox.client.indices.getMapping({ index: "logs" })).toEqual({
      logs: {
        mappings: {
          properties: {
            a: { properties: { b: { type: "float" }, c: { type: "long" } } },
            d: { properties: { e: text } },
          },
        },
      },
    });
    expect((await sandbox.client.fieldCaps({ fields: "d.*" })).fields).toMatchObject({
      "d.e": { text: { searchable: true, aggregatable: false } },
      "d.e.keyword": { keyword: { aggregatable: true } },
    });
  });

  test("security, licence, analysis and validation", async () => {
    const { client } = sandbox;
    expect(await client.security.authenticate()).toMatchObject({ username: "elastic", roles: ["superuser"] });
    expect(await client.license.get()).toMatchObject({ license: { status: "active", type: "basic" } });
    expect(await client.xpack.info()).toMatchObject({ features: { esql: { enabled: true } } });
    expect(await client.indices.analyze({ text: "The Quick-Fox 42" })).toMatchObject({
      tokens: [
        { token: "the", start_offset: 0, end_offset: 3, type: "<ALPHANUM>", position: 0 },
        { token: "quick", position: 1 },
        { token: "fox", position: 2 },
        { token: "42", type: "<NUM>", position: 3 },
      ],
    });
    expect(await client.indices.validateQuery({ query: { match_all: {} } })).toMatchObject({ valid: true });
    expect((await sandbox.raw("POST", "/_validate/query", { query: { nope: {} } })).body).toMatchObject({
      valid: false,
    });
    expect(await client.explain({ index: "logs", id: "1", query: { match_all: {} } })).toMatchObject({
      matched: true,
      explanation: { value: 1 },
    });
  });
});

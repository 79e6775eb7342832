/** ES|QL over HTTP, with the vendor's client. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;

beforeAll(async () => {
  sandbox = await startSearch();
  await sandbox.client.bulk({
    operations: [
      { "@timestamp": "2026-01-15T10:00:00Z", service: "checkout", ms: 120, big: 1 },
      { "@timestamp": "2026-01-15T10:05:00Z", service: "checkout, eu", ms: 20 },
      { "@timestamp": "2026-01-15T11:00:00Z", service: "search", ms: 19, note: 'say "hi"' },
    ].flatMap((event) => [{ index: { _index: "logs" } }, event]),
  });
});
afterAll(() => sandbox.stop());

describe("POST /_query", () => {
  it("gives the client's helper its records", async () => {
    const { records } = await sandbox.client.helpers
      .esql({
        query: "FROM logs | STATS n = COUNT(*), most = MAX(ms) BY service | SORT n DESC, service | LIMIT 10",
      })
      .toRecords<{ n: number; most: number; service: string }>();
    expect(records).toEqual([
      { n: 1, most: 120, service: "checkout" },
      { n: 1, most: 20, service: "checkout, eu" },
      { n: 1, most: 19, service: "search" },
    ]);
  });

  it("warns as the vendor does, in a header", async () => {
    const { warnings } = await sandbox.client.esql.query({ query: "FROM logs | KEEP ms" }, { meta: true });
    expect(warnings?.[0]).toMatch(
      /^299 Elasticsearch-8\.15\.0-\w{40} "No limit defined, adding default limit of \[1000\]"$/,
    );
  });

  it("takes parameters by place, by number and by name", async () => {
    const values = async (query: string, params: unknown[]) =>
      (await sandbox.raw("POST", "/_query", { query, params })).body.values;
    expect(await values("ROW a = ?, b = ? | LIMIT 1", [1, "x"])).toEqual([[1, "x"]]);
    expect(await values("ROW a = ?2, b = ?1 | LIMIT 1", [1, "x"])).toEqual([["x", 1]]);
    expect(await values("ROW a = ?one, b = ?two | LIMIT 1", [{ one: 1.5 }, { two: null }])).toEqual([
      [1.5, null],
    ]);
  });

  it("filters by a query of the Query DSL", async () => {
    const answer = await sandbox.client.esql.query({
      query: "FROM logs | STATS COUNT(*)",
      filter: { range: { ms: { gte: 20 } } },
    });
    expect(answer).toMatchObject({ values: [[2]] });
  });

  it("writes columnar results, and lists empty columns apart", async () => {
    const { body } = await sandbox.raw("POST", "/_query?drop_null_columns=true", {
      query: "FROM logs | SORT ms | KEEP ms, note | WHERE ms > 19 | LIMIT 5",
      columnar: true,
    });
    expect(body).toEqual({
      all_columns: [
        { name: "ms", type: "long" },
        { name: "note", type: "text" },
      ],
      columns: [{ name: "ms", type: "long" }],
      values: [[20, 120]],
    });
  });

  it.each([
    [
      "csv",
      "text/csv; charset=utf-8; header=present",
      'service,note\r\ncheckout,\r\n"checkout, eu",\r\nsearch,"say ""hi"""\r\n',
    ],
    [
      "tsv",
      "text/tab-separated-values; charset=utf-8; header=present",
      'service\tnote\ncheckout\t\ncheckout, eu\t\nsearch\tsay "hi"\n',
    ],
    [
      "txt",
      "text/plain; charset=utf-8",
      '    service    |     note      \n---------------+---------------\ncheckout       |null           \ncheckout, eu   |null           \nsearch         |say "hi"       \n',
    ],
  ])("writes %s", async (format, type, text) => {
    const { headers, text: written } = await sandbox.raw("POST", `/_query?format=${format}`, {
      query: "FROM logs | KEEP service, note | LIMIT 5",
    });
    expect(headers.get("content-type")).toBe(type);
    expect(written).toBe(text);
  });

  it("refuses unsupported forms and unknown members", async () => {
    expect((await sandbox.raw("POST", "/_query?format=cbor", { query: "ROW a = 1" })).status).toBe(406);
    expect((await sandbox.raw("POST", "/_query?format=arrow", { query: "ROW a = 1" })).status).toBe(406);
    const { status, body } = await sandbox.raw("POST", "/_query", { query: "ROW a = 1", foo: 1 });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({
      type: "x_content_parse_exception",
      reason: "[1:22] [esql/query] unknown field [foo]",
    });
    const missing = await sandbox.raw("POST", "/_query", {});
    expect(missing.body.error.reason).toBe("Validation Failed: 1: [query] is required;");
  });

  it("locates a mistake in the query", async () => {
    await expect(sandbox.client.esql.query({ query: "FROM logs | WHERE nosuch == 1" })).rejects.toMatchObject(
      {
        meta: {
          statusCode: 400,
          body: {
            error: {
              type: "verification_exception",
              reason: "Found 1 problem\nline 1:19: Unknown column [nosuch]",
            },
          },
        },
      },
    );
  });

  it("shows the statements in the journal", async () => {
    await sandbox.client.esql.query({ query: "FROM logs | WHERE ms > 4242 | KEEP ms" });
    const { body } = await sandbox.control("GET", "/requests");
    expect(JSON.stringify(body)).toContain("CAST(4242 AS BIGINT)");
  });
});

describe("POST /_query/async", () => {
  it("answers at once when the query is done, and keeps it when asked to", async () => {
    const start = (members: object) =>
      sandbox.raw("POST", "/_query/async", { query: "ROW a = 1 | LIMIT 1", ...members });
    expect((await start({})).body).toEqual({
      is_running: false,
      columns: [{ name: "a", type: "integer" }],
      values: [[1]],
    });
    const { id } = (await start({ keep_on_completion: true })).body;
    const later = await sandbox.raw("GET", `/_query/async/${id}?wait_for_completion_timeout=5s`);
    expect(later.body).toMatchObject({ id, is_running: false, values: [[1]] });
    expect((await sandbox.raw("DELETE", `/_query/async/${id}`)).status).toBe(200);
    const gone = await sandbox.raw("GET", `/_query/async/${id}`);
    expect(gone.status).toBe(404);
    expect(gone.body.error.type).toBe("resource_not_found_exception");
  });
});

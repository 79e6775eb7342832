/** Queries that a model translates. Proves a part of twins/SECURITY.md. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, errors } from "@elastic/elasticsearch";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { OPENAI_KEY, type OpenAiServer, startOpenAiServer } from "@offhook/platform/testing/openai-server";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import searchTwin from "../../index.ts";

const events = [
  { "@timestamp": "2026-01-31T09:00:00Z", level: "error", message: "pool is exhausted" },
  { "@timestamp": "2026-01-31T09:00:01Z", level: "info", message: "all is well" },
];

describe("a query that the compiler does not know", () => {
  let server: OpenAiServer;
  let twins: RunningTwins;
  let client: Client;
  let control: string;
  const strange = { most_surprising: { field: "message" } };

  async function start(config: string) {
    process.env.TRANSLATOR_KEY = OPENAI_KEY;
    twins = await startEnvironment(
      `version: 1\nservices:\n  - name: elasticsearch\n    config: ${config}\n`,
      {
        twins: [searchTwin],
      },
    );
    const { url, control_url } = addressesOf(twins, "elasticsearch");
    control = control_url;
    client = new Client({ node: url });
    await client.helpers.bulk({
      datasource: events,
      onDocument: () => ({ index: { _index: "logs" } }),
      refresh: true,
    });
  }
  beforeAll(async () => {
    server = await startOpenAiServer();
  });
  afterAll(() => server.stop());
  afterEach(async () => {
    await client.close();
    await twins.stop();
    delete process.env.TRANSLATOR_KEY;
  });

  const modelConfig = () =>
    `{ model: { base_url: "${server.endpoint.baseUrl}", api_key_env: TRANSLATOR_KEY, name: small-model } }`;
  const answer = (content: string) => {
    server.answer = (response) => void response.end(JSON.stringify({ choices: [{ message: { content } }] }));
  };
  async function lastNotes(operation: string): Promise<Record<string, unknown>> {
    const { body } = await request("GET", `${control}/sim/requests?operation=${operation}`, {
      headers: { "x-api-key": twins.apiKey },
    });
    return body.requests.at(-1).notes;
  }

  test("without a model is the vendor's 400, which says how to configure one", async () => {
    await start("{}");
    const refused = await client.search({ query: strange as never }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(errors.ResponseError);
    const { statusCode, message } = refused as errors.ResponseError;
    expect(statusCode).toBe(400);
    expect(message).toContain("unknown query [most_surprising]");
    expect(message).toContain("configure [model]");
  });

  test("is the model's statement, which the journal shows", async () => {
    await start(modelConfig());
    answer("SELECT _row FROM documents WHERE level = 'error'");
    const { hits } = await client.search({ query: strange as never });
    expect(hits.hits.map(({ _source }) => _source)).toEqual([events[0]]);
    expect(await lastNotes("search")).toMatchObject({
      translator: [
        {
          model: "small-model",
          sql: "SELECT _row FROM documents WHERE level = 'error'",
          cached: false,
        },
      ],
    });
  });

  test("is refused when the model's statement is not allowed to run, and no data is lost", async () => {
    await start(modelConfig());
    for (const hostile of [
      "DROP TABLE documents",
      `COPY documents TO '${join(tmpdir(), "offhook-copy.csv")}'`,
      "SELECT _row FROM documents; DELETE FROM documents",
      "SELECT * FROM read_text('/etc/passwd')",
      "SELECT _row FROM duckdb_tables()",
    ]) {
      answer(hostile);
      const refused = await client
        .search({ query: { [`strange_${hostile.length}`]: {} } as never })
        .catch((error: unknown) => error);
      expect((refused as errors.ResponseError).statusCode).toBe(400);
      expect(await lastNotes("search")).toMatchObject({ translator: [{ failed: expect.any(String) }] });
    }
    expect((await client.count()).count).toBe(2);
  });

  test("whose SQL binds and fails is the vendor's 400 without the database's words, and is asked again later", async () => {
    await start(modelConfig());
    const failing = "SELECT CAST(level AS BIGINT) AS _row FROM documents";
    const ask = () => client.search({ query: strange as never }).catch((error: unknown) => error);
    answer(failing);
    const { statusCode, message } = (await ask()) as errors.ResponseError;
    expect(statusCode).toBe(400);
    expect(message).toContain("unknown query [most_surprising]");
    expect(message).not.toMatch(/Error|CAST|documents|INT64/);
    expect(server.requests.slice(-2).map(({ body }) => String(body).includes("cannot be run"))).toEqual([
      false,
      true,
    ]);
    expect(await lastNotes("search")).toMatchObject({
      translator: [{ failed: expect.stringContaining("error") }],
    });
    answer("SELECT _row FROM documents WHERE level = 'error'");
    expect(await ask()).toMatchObject({ hits: { total: { value: 1 } } });
    answer("SELECT error(level) AS level FROM documents");
    const refused = (await esql("FROM logs | ENRICH p").catch(
      (error: unknown) => error,
    )) as errors.ResponseError;
    expect({ status: refused.statusCode, said: /Invalid Input|error\(/.test(refused.message) }).toEqual({
      status: 400,
      said: false,
    });
  });

  const model = (more: string) => modelConfig().replace(/^\{ /, `{ ${more}`);
  const esql = (query: string, more: object = {}) =>
    client.transport.request<EsqlBody>({ method: "POST", path: "/_query", body: { query, ...more } });

  test("of ES|QL gets the model's columns, with types and values as ES|QL has them", async () => {
    await start(modelConfig());
    answer(
      `SELECT level, count(*) AS n, CAST("@timestamp" AS DATE) AS "day", sum(1.5) AS s, INTERVAL 1 DAY AS odd FROM documents GROUP BY ALL ORDER BY level`,
    );
    const { columns, values } = await esql("FROM logs | ENRICH services ON level");
    expect(columns).toEqual([
      { name: "level", type: "keyword" },
      { name: "n", type: "long" },
      { name: "day", type: "date" },
      { name: "s", type: "double" },
      { name: "odd", type: "keyword" },
    ]);
    expect(values).toEqual([
      ["error", 1, "2026-01-31T00:00:00.000Z", 1.5, "1 day"],
      ["info", 1, "2026-01-31T00:00:00.000Z", 1.5, "1 day"],
    ]);
    expect(await lastNotes("esql.query")).toMatchObject({ translator: [{ model: "small-model" }] });
  });

  test("of ES|QL is sent with its parameters and its filter", async () => {
    await start(modelConfig());
    answer("SELECT level FROM documents");
    await esql("FROM logs | ENRICH p | WHERE level == ?", {
      params: ["error"],
      filter: { term: { level: "error" } },
    });
    const asked = String(server.requests.at(-1)?.body);
    expect(asked).toContain("ENRICH p");
    expect(asked).toContain('\\"error\\"');
    expect(asked).toContain("term");
  });

  test("goes to the model first when the service says so, and to the compiler when the model fails", async () => {
    await start(model("translator: model-first, "));
    answer("SELECT 'the model' AS who FROM documents LIMIT 1");
    expect((await esql("FROM logs | KEEP level | LIMIT 1")).values).toEqual([["the model"]]);
    answer("DROP TABLE documents");
    expect((await esql("FROM logs | SORT level | KEEP level")).values).toEqual([["error"], ["info"]]);
    expect(await lastNotes("esql.query")).toMatchObject({
      translator: [{ failed: expect.any(String) }],
      sql: [expect.any(String)],
    });
  });

  test("of ES|QL without a model is the vendor's 400 with the place, which says how to configure one", async () => {
    await start("{}");
    const refused = await esql("FROM logs | ENRICH services ON level").catch((error: unknown) => error);
    expect((refused as errors.ResponseError).statusCode).toBe(400);
    expect((refused as Error).message).toMatch(/line 1:\d+/);
    expect((refused as Error).message).toContain("model");
  });
});

interface EsqlBody {
  columns: { name: string; type: string }[];
  values: unknown[][];
}

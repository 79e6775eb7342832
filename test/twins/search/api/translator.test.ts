import { Client, errors } from "@elastic/elasticsearch";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { RunningTwins } from "../../../../twins/sandbox/start.ts";
import searchTwin from "../../../../twins/search/index.ts";
import { request } from "../../../support/http.ts";
import { OPENAI_KEY, type OpenAiServer, startOpenAiServer } from "../../../support/openai-server.ts";
import { addressesOf, startEnvironment } from "../../../support/twins.ts";

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

  test("is what the model says it is, and the journal shows the SQL", async () => {
    await start(modelConfig());
    answer("SELECT _row FROM documents WHERE level = 'error'");
    const { hits } = await client.search({ query: strange as never });
    expect(hits.hits.map(({ _source }) => _source)).toEqual([events[0]]);
    expect(await lastNotes("search")).toMatchObject({
      translator: {
        model: "small-model",
        sql: "SELECT _row FROM documents WHERE level = 'error'",
        cached: false,
      },
    });
  });

  test("is refused when the model's answer may not run, and nothing is lost", async () => {
    await start(modelConfig());
    for (const hostile of [
      "DROP TABLE documents",
      "COPY documents TO '/tmp/out'",
      "SELECT _row FROM documents; DELETE FROM documents",
      "SELECT * FROM read_text('/etc/passwd')",
      "SELECT _row FROM duckdb_tables()",
    ]) {
      answer(hostile);
      const refused = await client
        .search({ query: { [`strange_${hostile.length}`]: {} } as never })
        .catch((error: unknown) => error);
      expect((refused as errors.ResponseError).statusCode).toBe(400);
      expect(await lastNotes("search")).toMatchObject({ translator: { failed: expect.any(String) } });
    }
    expect((await client.count()).count).toBe(2);
  });
});

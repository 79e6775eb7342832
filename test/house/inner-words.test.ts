/** What fails inside a twin is told in its log: no answer has the words of the database, of Node or of a file. */
import { DuckDBConnection } from "@duckdb/node-api";
import search from "@offhook/elasticsearch";
import { elasticsearchRequests } from "@offhook/elasticsearch/testing/fuzz";
import type { RunningTwins } from "@offhook/platform/server/start";
import { type FuzzRequest, Sender } from "@offhook/platform/testing/fuzz/request";
import { innerWords } from "@offhook/platform/testing/fuzz/rules";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import splunk from "@offhook/splunk";
import { SPLUNK_TOKEN, splunkRequests } from "@offhook/splunk/testing/fuzz";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";

/** As the parts inside say what is wrong. */
const FAILURES = [
  'Binder Error: Referenced column "x" not found in FROM clause!',
  'IO Error: Cannot open file "/var/lib/store.duckdb": No such file or directory',
  "INTERNAL Error: Attempted to access index 3 within vector of size 3",
  "ENOENT: no such file or directory, open '/var/lib/store.duckdb'",
  "Cannot read properties of undefined (reading 'rows')",
];
const REQUESTS_PER_OPERATION = 2;
const operationsAnswer = z.object({
  operations: z.array(z.object({ method: z.string(), path: z.string() })),
});
const jobsAnswer = z.object({ entry: z.array(z.object({ content: z.object({ sid: z.string() }) })) });

let twins: RunningTwins;
const sender = new Sender();
beforeAll(async () => {
  const services = [{ name: "elasticsearch" }, { name: "splunk" }];
  twins = await startEnvironment(JSON.stringify({ version: 1, services }), { twins: [search, splunk] });
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  sender.close();
  await twins.stop();
});

test.each([
  ["elasticsearch", elasticsearchRequests, { "@timestamp": "2026-01-01T00:00:00Z", x: 1 }],
  ["splunk", splunkRequests, { _time: "2026-01-01T00:00:00Z", _raw: "x=1" }],
] as const)("%s, whatever the database says", async (name, requestsOf, event) => {
  const { url, control_url: control } = addressesOf(twins, name);
  const found: string[] = [];
  const ask = async (base: string, request: FuzzRequest): Promise<string> => {
    const { body } = await sender.send(base, request);
    const words = innerWords(request, body);
    if (words !== undefined) found.push(`${request.method} ${request.path}: ${body.slice(0, 300)}`);
    return body;
  };
  const headers = { "x-api-key": twins.apiKey, "content-type": "application/json" };
  const askControl = (method: string, path: string, body?: object) =>
    ask(control, { method, path: `/sim/${path}`, headers, body: body && JSON.stringify(body) });
  const askSplunk = (method: string, path: string, body?: string) =>
    ask(url, { method, path, headers: { authorization: `Splunk ${SPLUNK_TOKEN}` }, body });

  const { operations } = operationsAnswer.parse(JSON.parse(await askControl("GET", "operations")));
  // The store is open before its database fails.
  expect(JSON.parse(await askControl("POST", "data", { data: { events: [event] } }))).not.toHaveProperty(
    "error",
  );
  let failed = 0;
  vi.spyOn(DuckDBConnection.prototype, "prepare").mockImplementation(async () => {
    throw new Error(FAILURES[failed++ % FAILURES.length]);
  });
  for (const operation of operations) {
    const requests = requestsOf([operation]);
    for (const request of fc.sample(requests, { numRuns: REQUESTS_PER_OPERATION, seed: 1 })) {
      await ask(url, request);
    }
  }
  for (const path of ["snapshot", "counts", "requests", "health", "data?entity_type=events"]) {
    await askControl("GET", path);
  }
  if (name === "splunk") {
    for (const mode of ["normal", "blocking"]) {
      const form = `search=${encodeURIComponent("search index=* | stats count by host")}&exec_mode=${mode}`;
      await askSplunk("POST", "/services/search/jobs", form);
    }
    const jobs = jobsAnswer.parse(
      JSON.parse(await askSplunk("GET", "/services/search/jobs?output_mode=json&count=0")),
    );
    expect(jobs.entry.length).toBeGreaterThan(1);
    for (const { content } of jobs.entry) {
      await askSplunk("GET", `/services/search/jobs/${encodeURIComponent(content.sid)}/search.log`);
      await askSplunk("GET", `/services/search/jobs/${encodeURIComponent(content.sid)}?output_mode=json`);
    }
  }
  expect(found).toEqual([]);
  expect(failed).toBeGreaterThan(FAILURES.length);
});

/** The index of a dataset's rows: their own, else the configured one. */

import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

const rows = [
  { _id: "a", m: "none of its own" },
  { _id: "b", _index: "logs", m: "logs, as it says" },
  { _id: "c", _index: "web", _source: { m: "web" } },
]
  .map((row) => `${JSON.stringify(row)}\n`)
  .join("");

let first: SearchSandbox;
beforeAll(async () => {
  first = await startSearch({ fidelity: "vendor", index: "prod" });
});
afterAll(() => first.stop());

const platform = (method: string, path: string, body: unknown) =>
  request(method, `${first.twins.baseUrl}${path}`, { headers: { "x-api-key": first.twins.apiKey }, body });

async function upload(text: string): Promise<void> {
  const address = "/environments/dev/datasets/elasticsearch";
  await platform("DELETE", address, undefined);
  expect((await platform("POST", `${address}?format=ndjson`, text)).status).toBe(201);
}

/** The index of each document, by a search on a sandbox with this configuration. */
async function places(url: string): Promise<Record<string, string>> {
  const { body } = await request("GET", `${url}/_search?size=100`, {});
  return Object.fromEntries(
    body.hits.hits.map(({ _id, _index }: { _id: string; _index: string }) => [_id, _index]),
  );
}

async function sandboxWith(index: string): Promise<string> {
  const services = [{ name: "elasticsearch", config: { fidelity: "vendor", index } }];
  const { body, status } = await platform("POST", "/sandboxes", { services });
  expect(status).toBe(201);
  return body.twins.find(({ name }: { name: string }) => name === "elasticsearch").url;
}

test("rows without an index are in the configured one, others in their own, and sandboxes share the file", async () => {
  await upload(rows);
  expect(await places(first.url)).toEqual({ a: "prod", b: "logs", c: "web" });
  expect(await places(await sandboxWith("staging"))).toEqual({ a: "staging", b: "logs", c: "web" });
  expect(await places(await sandboxWith("logs"))).toEqual({ a: "logs", b: "logs", c: "web" });
  const { count } = await first.client.count({ index: "prod" });
  expect(count).toBe(1);
  expect((await first.raw("GET", "/prod/_doc/a")).body).toMatchObject({ found: true, _index: "prod" });
  expect((await first.raw("GET", "/_cat/indices?h=index,docs.count&s=index")).text).toBe(
    "logs 1\nprod 1\nweb  1\n",
  );
});

test("a file of which no row has an index is in the configured one as a whole", async () => {
  await upload('{"m": "x"}\n{"m": "y"}\n');
  expect(await places(first.url)).toEqual({ "row-0": "prod", "row-1": "prod" });
  const elsewhere = await first.raw("GET", "/logs/_search");
  expect(elsewhere).toMatchObject({ status: 404, body: { error: { type: "index_not_found_exception" } } });
});

test("what the world dumps says the configured index, and every reset comes back to it", async () => {
  await upload(rows);
  const expected = { a: "prod", b: "logs", c: "web" };
  const { tables: data } = (await first.control("POST", "/snapshot", {})).body;
  expect(data.events).toMatchObject([{ _index: "prod" }, { _index: "logs" }, { _index: "web" }]);
  await first.raw("PUT", "/other/_doc/d", { m: "more" });
  expect((await first.control("POST", "/reset", { data })).status).toBe(200);
  expect(await places(first.url)).toEqual(expected);
  expect((await first.control("POST", "/reset", {})).status).toBe(200);
  expect(await places(first.url)).toEqual(expected);
  const { rows: found } = (await first.control("GET", "/data?entity_type=events&_index=prod")).body;
  expect(found).toMatchObject([{ _id: "a", _index: "prod" }]);
});

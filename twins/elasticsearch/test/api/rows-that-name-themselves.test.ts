/** File rows with an `_id` and `_index` of their own are documents like any other. */

import { request } from "@offhook/platform/testing/http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  const { baseUrl, apiKey } = sandbox.twins;
  const address = `${baseUrl}/environments/dev/datasets/elasticsearch?format=ndjson`;
  const body = '{"_id":"x","_index":"web","a":1}\n{"_id":"y","_index":"web","a":2}\n';
  expect((await request("POST", address, { headers: { "x-api-key": apiKey }, body })).status).toBe(201);
});
afterAll(() => sandbox.stop());

test("are updated, written again by query, changed by the control plane, and survive a round trip", async () => {
  const { client } = sandbox;
  expect((await client.update({ index: "web", id: "x", doc: { b: 1 } })).result).toBe("updated");
  expect(await client.updateByQuery({ index: "web" })).toMatchObject({ updated: 2, failures: [] });
  const change = { entity_type: "events", key: "y", changes: { a: 3 } };
  expect(await sandbox.control("PATCH", "/data", change)).toMatchObject({
    status: 200,
    body: { updated: 1 },
  });
  const snapshot = async () => (await sandbox.control("POST", "/snapshot", { content_hash: true })).body;
  const { tables, content_hash } = await snapshot();
  expect((await sandbox.control("POST", "/reset", { data: tables })).status).toBe(200);
  expect((await snapshot()).content_hash).toBe(content_hash);
});

test("cannot be written by a client: the vendor refuses its metadata names inside a document", async () => {
  const answer = await sandbox.raw("PUT", "/web/_doc/x", { _id: "x", a: 1 });
  expect(answer).toMatchObject({ status: 400, body: { error: { type: "document_parsing_exception" } } });
});

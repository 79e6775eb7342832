/** An index may be called `docs` or `sim`: only paths below `/sim/` and documentation pages are not the vendor's. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
});
afterAll(() => sandbox.stop());

test.each(["docs", "sim", "redoc"])("%s is made, looked for, listed and removed", async (name) => {
  expect((await sandbox.raw("HEAD", `/${name}`)).status).toBe(404);
  expect((await sandbox.raw("PUT", `/${name}`)).body).toMatchObject({ acknowledged: true, index: name });
  const written = await sandbox.raw("POST", "/_bulk", `{"index":{"_index":"${name}"}}\n{"a":1}\n`);
  expect(written.body).toMatchObject({ errors: false });
  expect((await sandbox.raw("HEAD", `/${name}`)).status).toBe(200);
  expect((await sandbox.raw("GET", `/_cat/indices/${name}?h=index`)).text.trim()).toBe(name);
  expect((await sandbox.raw("DELETE", `/${name}`)).body).toMatchObject({ acknowledged: true });
});

test("documents of docs are written, read, searched and removed", async () => {
  expect((await sandbox.raw("PUT", "/docs/_doc/1", { m: "found" })).status).toBe(201);
  expect((await sandbox.raw("GET", "/docs/_doc/1")).body).toMatchObject({ found: true });
  const { body } = await sandbox.raw("POST", "/docs/_search", { query: { match: { m: "found" } } });
  expect(body.hits.total.value).toBe(1);
  expect((await sandbox.raw("DELETE", "/docs/_doc/1")).body.result).toBe("deleted");
});

test.each([
  ["GET", "/docs"],
  ["GET", "/openapi.json"],
  ["GET", "/sim/health"],
  ["PUT", "/sim/_doc/1"],
  ["POST", "/sim/_search"],
])("%s %s is the vendor's own 404", async (method, path) => {
  const answer = await sandbox.raw(method, path, method === "GET" ? undefined : {});
  expect(answer.headers.get("x-elastic-product")).toBe("Elasticsearch");
  expect([answer.status, answer.body.status]).toEqual([404, 404]);
});

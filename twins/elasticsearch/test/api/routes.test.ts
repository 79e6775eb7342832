/** Routes and members that tools rely on. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { type SearchSandbox, startSearch } from "../../testing/search.ts";

let sandbox: SearchSandbox;
beforeAll(async () => {
  sandbox = await startSearch({ fidelity: "vendor" });
  await sandbox.raw("PUT", "/old/_doc/1", { at: "2026-01-01T00:00:00Z", level: "info" });
  await sandbox.raw("PUT", "/new/_doc/1", { at: "2026-02-01T00:00:00Z", level: "error" });
});
afterAll(() => sandbox.stop());

test("a mapping has two names", async () => {
  for (const index of ["/old", ""]) {
    const [one, other] = await Promise.all(
      ["_mapping", "_mappings"].map((name) => sandbox.raw("GET", `${index}/${name}`)),
    );
    expect(other?.body).toEqual(one?.body);
    expect(other?.status).toBe(200);
  }
  const put = await sandbox.raw("PUT", "/old/_mappings", { properties: {} });
  expect(put.body).toEqual({ acknowledged: true });
});

test("fields are those of the indices that a filter matches", async () => {
  const caps = async (index_filter?: object) => {
    const { body } = await sandbox.raw("POST", "/old,new/_field_caps?fields=level", { index_filter });
    return [body.indices, Object.keys(body.fields)];
  };
  expect(await caps()).toEqual([["new", "old"], ["level"]]);
  expect(await caps({ range: { at: { gte: "2026-01-15" } } })).toEqual([["new"], ["level"]]);
  expect(await caps({ match_none: {} })).toEqual([[], []]);
  const refused = await sandbox.raw("POST", "/old/_field_caps?fields=*", { index_filter: { nope: {} } });
  expect(refused.status).toBe(400);
});

test("a table is YAML where that is asked for", async () => {
  const path = "/_cat/indices/old,new?h=index,docs.count&s=index";
  const expected = [
    { index: "new", "docs.count": "1" },
    { index: "old", "docs.count": "1" },
  ];
  const { text } = await sandbox.raw("GET", `${path}&format=yaml`, undefined, {});
  expect(parse(text)).toEqual(expected);
  const accepted = await sandbox.raw("GET", path, undefined, { accept: "application/yaml" });
  expect(parse(accepted.text)).toEqual(expected);
  expect((await sandbox.raw("GET", `${path}&format=json`)).body).toEqual(expected);
});

test("statistics have segments, and nodes their ways in", async () => {
  const { body } = await sandbox.raw("GET", "/old/_stats");
  expect(body._all.primaries.segments).toMatchObject({ count: 1, max_unsafe_auto_id_timestamp: -1 });
  for (const path of ["/_nodes", "/_nodes/http,transport", "/_nodes/stats"]) {
    const { nodes } = (await sandbox.raw("GET", path)).body;
    expect(Object.values(nodes)).toMatchObject([{ http: {}, transport: {} }]);
  }
});

test("errors in vendor do not mention a model", async () => {
  const bodies = [{ query: { nope: {} } }, { query: { bool: { must: { nope: {} } } } }];
  for (const body of bodies) {
    const refused = await sandbox.raw("POST", "/_search", body);
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).not.toMatch(/model/);
  }
  const esql = await sandbox.raw("POST", "/_query", { query: "FROM old | ENRICH p ON level" });
  expect(esql.status).toBe(400);
  expect(JSON.stringify(esql.body)).not.toMatch(/model/);
});

/** Proofs of what the search twin says of itself. */

import { request } from "@offhook/platform/testing/http";
import { expect } from "vitest";
import type { Ask, TwinUnderTest } from "../../support/every-twin.ts";
import type { Proofs } from "./proof.ts";

const json = { "content-type": "application/json" };

export const elasticsearchProofs: Proofs = {
  async "elasticsearch.any-credentials"({ url, control }) {
    const headers = { authorization: "ApiKey c2VjcmV0LWtleS1vZi1hLXRlc3Q=" };
    expect((await request("GET", url, { headers })).status).toBe(200);
    expect((await request("GET", url)).status).toBe(200);
    const journal = await control("GET", "/requests?operation=info");
    expect(journal.text).not.toContain("c2VjcmV0");
  },
  async "elasticsearch.index-again"({ url, vendor }) {
    const put = () => request("PUT", `${url}/logs/_doc/1`, { headers: json, body: { a: 1 } });
    expect((await put()).body).toMatchObject({ _version: 1, result: "created" });
    expect((await put()).body).toMatchObject({ _version: 2, result: "updated" });
    await vendor("POST", "/logs/_doc", { a: 1 });
    await vendor("POST", "/logs/_doc", { a: 1 });
    expect((await vendor("POST", "/logs/_count")).body.count).toBe(3);
  },
  async "elasticsearch.create-again"({ url, vendor }) {
    const create = (a: number) => request("PUT", `${url}/logs/_create/1`, { headers: json, body: { a } });
    expect((await create(1)).status).toBe(201);
    const again = await create(2);
    expect(again.status).toBe(409);
    expect(again.body.error).toMatchObject({ type: "version_conflict_engine_exception" });
    expect((await vendor("GET", "/logs/_doc/1")).body._source).toEqual({ a: 1 });
  },
  async "elasticsearch.index-made-again"({ twins, url, vendor }) {
    await vendor("PUT", "/logs/_doc/1", { a: 1 });
    for (const method of ["PUT", "PUT", "DELETE", "DELETE"]) {
      expect((await request(method, `${url}/logs`)).body).toMatchObject({ acknowledged: true });
    }
    expect((await vendor("GET", "/logs/_doc/1")).status).toBe(200);
    await inVendorFidelity(twins, async (sandbox) => {
      const ask = async (method: string) => (await request(method, `${sandbox.url}/shop`)).status;
      const statuses = [];
      for (const method of ["PUT", "PUT", "DELETE", "DELETE"]) statuses.push(await ask(method));
      expect(statuses).toEqual([200, 400, 200, 404]);
    });
  },
  async "elasticsearch.specification"({ vendor }) {
    await vendor("PUT", "/logs/_doc/1", event);
    expect(await countOf(vendor, unknownClause)).toBe(1);
    expect(await countOf(vendor, lastHour)).toBe(0);
    expect((await vendor("POST", "/none/_count")).body).toMatchObject({ count: 1 });
  },
  async "elasticsearch.vendor"({ twins }) {
    await inVendorFidelity(twins, async ({ vendor, control }) => {
      await vendor("PUT", "/logs/_doc/1", event);
      expect((await vendor("POST", "/_count", { query: unknownClause })).body).toMatchObject({
        error: { root_cause: [{ type: "parsing_exception", reason: "unknown query [unheard_of]" }] },
        status: 400,
      });
      expect(await countOf(vendor, { prefix: { "level.keyword": "err" } })).toBe(1);
      expect(await countOf(vendor, lastHour)).toBe(0);
      await control("PUT", "/clock", { now: "2026-01-31T09:30:00Z", frozen: true });
      expect(await countOf(vendor, lastHour)).toBe(1);
      expect((await vendor("POST", "/none/_count")).status).toBe(404);
    });
  },
  async "elasticsearch.bulk"({ twins, url }) {
    const remove = async (address: string) => {
      await request("PUT", `${address}/logs/_doc/1`, { headers: json, body: event });
      const body = '{"delete":{"_index":"logs","_id":"1"}}\n';
      const answer = await request("POST", `${address}/_bulk`, { headers: json, body });
      expect(answer.body).toMatchObject({ errors: false, items: [{ delete: { result: "deleted" } }] });
      return (await request("GET", `${address}/logs/_doc/1`)).status;
    };
    expect(await remove(url)).toBe(200);
    await inVendorFidelity(twins, async (sandbox) => expect(await remove(sandbox.url)).toBe(404));
  },
  async "elasticsearch.keyword"({ vendor, twins }) {
    const matched = async (ask: Ask) => {
      await ask("PUT", "/logs/_doc/1", { m: "Disk Full" });
      const of = (field: string, value: string) => countOf(ask, { term: { [field]: value } });
      return [await of("m", "Disk Full"), await of("m", "disk"), await of("m.keyword", "Disk Full")];
    };
    expect(await matched(vendor)).toEqual([1, 0, 1]);
    await inVendorFidelity(twins, async (sandbox) => {
      expect(await matched(sandbox.vendor)).toEqual([0, 1, 1]);
    });
  },
  async "elasticsearch.nominal"({ vendor }) {
    await vendor("PUT", "/web/_doc/1", event);
    for (const [method, path, body] of [
      ["PUT", "/web/_alias/site", undefined],
      ["PUT", "/_data_stream/stream", undefined],
      ["PUT", "/_index_template/template", { index_patterns: ["web*"] }],
      ["PUT", "/web/_settings", { index: { number_of_replicas: 3 } }],
    ] as const) {
      expect((await vendor(method, path, body)).body).toEqual({ acknowledged: true });
    }
    expect((await vendor("GET", "/web/_alias")).body).toEqual({ web: { aliases: {} } });
    expect((await vendor("GET", "/_data_stream")).body).toEqual({ data_streams: [] });
    expect((await vendor("GET", "/_index_template")).body).toEqual({ index_templates: [] });
    const { settings } = (await vendor("GET", "/web/_settings")).body.web;
    expect(settings.index.number_of_replicas).toBe("1");
    expect((await vendor("POST", "/_search")).body.hits.hits).toMatchObject([{ _index: "web" }]);
  },
  async "elasticsearch.mappings"({ twins }) {
    await inVendorFidelity(twins, async ({ vendor, control }) => {
      const mappings = { dynamic: "strict", properties: { level: { type: "keyword" } } };
      await vendor("PUT", "/shop", { mappings });
      expect((await vendor("PUT", "/shop/_doc/1", { other: 1 })).status).toBe(400);
      expect((await vendor("PUT", "/shop/_doc/1", { level: "An Error" })).status).toBe(201);
      const { hits } = (await vendor("POST", "/shop/_search", { sort: ["level"] })).body;
      expect(hits.hits).toMatchObject([{ sort: ["An Error"] }]);
      const { tables } = (await control("POST", "/snapshot", {})).body;
      expect(tables.indices).toMatchObject([{ name: "shop", definition: { mapping: mappings } }]);
    });
  },
  async "elasticsearch.journal"({ vendor, control }) {
    await vendor("PUT", "/logs/_doc/1", event);
    const query = { bool: { must: [{ term: { level: "a level" } }, { unheard_of: {} }] } };
    await vendor("POST", "/_search", { query });
    const { requests } = (await control("GET", "/requests?operation=search")).body;
    expect(requests.at(-1).notes).toMatchObject({
      sql: expect.arrayContaining([expect.stringContaining("'a level'")]),
      dropped: [{ clause: "unheard_of", path: expect.stringContaining("must[1]") }],
    });
  },
  async "elasticsearch.translator"({ vendor }) {
    for (const [path, body] of [
      ["/_search", { query: { unheard_of: {} } }],
      ["/_query", { query: "FROM logs | ENRICH services" }],
      ["/_search", { aggs: { a: { filter: { unheard_of: {} } } } }],
      ["/_search", { unheard_of: 1 }],
      ["/_search", { aggs: { a: { unheard_of: {} } } }],
    ] as const) {
      const answer = await vendor("POST", path, body);
      expect(answer.status).toBe(400);
      expect(answer.body.error.reason).toContain("[model]");
    }
  },
  async "elasticsearch.refused"({ vendor }) {
    await vendor("PUT", "/logs/_doc/1", event);
    const refused = async (path: string, body: object, name: string) => {
      const answer = await vendor("POST", path, body);
      expect(answer.status).toBe(400);
      expect(answer.text).toContain(`[${name}]`);
    };
    for (const name of ["knn", "rescore", "suggest", "runtime_mappings", "script_fields"]) {
      await refused("/_search", { [name]: { some: "thing" } }, name);
    }
    const collapse = { field: "level", inner_hits: { name: "all" } };
    await refused("/_search", { collapse }, "inner_hits");
    await refused("/logs/_update/1", { script: "ctx._source.a = 1" }, "script");
    await refused("/_reindex", { source: { index: "logs" }, dest: { index: "more" } }, "_reindex");
  },
};

const event = { level: "error", "@timestamp": "2026-01-31T09:00:00Z" };
const unknownClause = { bool: { must: [{ unheard_of: {} }] } };
const lastHour = { range: { "@timestamp": { gte: "now-1h", lte: "now" } } };

async function countOf(ask: Ask, query: object): Promise<number> {
  return (await ask("POST", "/_count", { query })).body.count;
}

/** A sandbox of its own whose search twin does as the vendor does. */
async function inVendorFidelity(
  { baseUrl, apiKey }: TwinUnderTest["twins"],
  work: (sandbox: { url: string; vendor: Ask; control: Ask }) => Promise<void>,
): Promise<void> {
  const headers = { ...json, "x-api-key": apiKey };
  const services = [{ name: "elasticsearch", config: { fidelity: "vendor" } }];
  const made = await request("POST", `${baseUrl}/sandboxes`, { headers, body: { services } });
  expect(made.status).toBe(201);
  const { id, twins } = made.body;
  const { url, control_url } = twins.find(({ name }: { name: string }) => name === "elasticsearch");
  await work({
    url,
    vendor: (method, path, body) => request(method, `${url}${path}`, { headers: json, body }),
    control: (method, path, body) => request(method, `${control_url}/sim${path}`, { headers, body }),
  });
  await request("DELETE", `${baseUrl}/sandboxes/${id}`, { headers });
}

/** Proofs of what the search twin says of itself. */
import { expect } from "vitest";
import { request } from "../../support/http.ts";
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
  async "elasticsearch.index-made-again"({ url, vendor }) {
    await vendor("PUT", "/logs/_doc/1", { a: 1 });
    for (const method of ["PUT", "PUT", "DELETE", "DELETE"]) {
      expect((await request(method, `${url}/logs`)).body).toMatchObject({ acknowledged: true });
    }
    expect((await vendor("GET", "/logs/_doc/1")).status).toBe(200);
  },
};

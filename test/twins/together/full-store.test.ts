/** What clients and the control plane are told by log twins whose store has no room: a small limit stands in for a disk. */

import { LazyStore } from "@offhook/log-store/store/lazy-store";
import { StoreFull } from "@offhook/log-store/store/log-store";
import type { RunningTwins } from "@offhook/platform/server/start";
import { request } from "@offhook/platform/testing/http";
import { addressesOf, startEnvironment } from "@offhook/platform/testing/twins";
import { SEED_HEC_TOKEN } from "@offhook/splunk/world/seed";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { registry } from "../../../twins/registry.ts";

const LIMIT_BYTES = 2 * 1024 ** 2;
const EACH = 40;
const text = `error ${"upstream ".repeat(400)}`;
const blocked = (index: string) =>
  `index [${index}] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];`;

let twins: RunningTwins;
beforeAll(async () => {
  const services =
    "version: 1\nservices:\n  - name: elasticsearch\n    config: { fidelity: vendor }\n  - name: splunk\n";
  twins = await startEnvironment(services, { storeLimitBytes: LIMIT_BYTES, twins: registry });
});
afterAll(() => twins.stop());

const control = (twin: string, method: string, path: string, body?: unknown) =>
  request(method, `${addressesOf(twins, twin).control_url}/sim${path}`, {
    headers: { "x-api-key": twins.apiKey },
    ...(body === undefined ? {} : { body }),
  });

describe("the search twin", () => {
  const ask = (
    method: string,
    path: string,
    body?: unknown,
    headers = { "content-type": "application/json" },
  ) =>
    request(method, `${addressesOf(twins, "elasticsearch").url}${path}`, {
      headers,
      ...(body === undefined ? {} : { body }),
    });
  const ndjson = { "content-type": "application/x-ndjson" };
  const bulk = (from: number) =>
    Array.from({ length: EACH }, (_, n) => [
      JSON.stringify({ index: { _index: "logs", _id: `d${from + n}` } }),
      JSON.stringify({ n: from + n, text }),
    ])
      .flat()
      .join("\n")
      .concat("\n");
  const count = async () => (await ask("GET", "/logs/_count")).body.count;

  test("answers 429 in the vendor's words for what it has no room for, and finds all that it took", async () => {
    expect((await control("elasticsearch", "GET", "/health")).body.status).toBe("ok");
    let taken = 0;
    let items: { index: { status: number; error?: object } }[] = [];
    for (; taken < 100_000; taken += EACH) {
      const answer = await ask("POST", "/_bulk", bulk(taken), ndjson);
      expect(answer.status).toBe(200);
      items = answer.body.items;
      if (answer.body.errors) break;
    }
    expect(taken).toBeGreaterThan(EACH);
    expect(items).toHaveLength(EACH);
    for (const { index } of items) {
      expect(index.status).toBe(429);
      expect(index.error).toEqual({ type: "cluster_block_exception", reason: blocked("logs") });
    }
    expect(await count()).toBe(taken);

    const large = { text: text.repeat(200) };
    const one = await ask("PUT", "/logs/_doc/large", large);
    expect(one.status).toBe(429);
    expect(one.body).toEqual({
      error: {
        root_cause: [{ type: "cluster_block_exception", reason: blocked("logs") }],
        type: "cluster_block_exception",
        reason: blocked("logs"),
      },
      status: 429,
    });
    const health = await control("elasticsearch", "GET", "/health");
    expect(health.status).toBe(200);
    expect(health.body).toMatchObject({
      status: "degraded",
      problem: expect.stringContaining("STORE_LIMIT_MB"),
    });
    const inserted = await control("elasticsearch", "POST", "/data", {
      data: { events: [{ _id: "x", ...large }] },
    });
    expect(inserted.status).toBe(503);
    expect(inserted.body.error.message).toContain("the log store has reached its limit of 2 MiB");
    const hits = await ask("POST", "/logs/_search", { query: { match: { text: "upstream" } }, size: 1 });
    expect(hits.body.hits.total.value).toBe(taken);
    expect((await ask("GET", "/logs/_doc/d1")).body.found).toBe(true);

    expect((await control("elasticsearch", "POST", "/reset")).status).toBe(200);
    expect((await control("elasticsearch", "GET", "/health")).body.status).toBe("ok");
    expect((await ask("PUT", "/logs/_doc/small?refresh=true", { n: 1 })).status).toBe(201);
    expect(await count()).toBe(1);
  });
});

describe("the Splunk twin", () => {
  const send = (path: string, body: string) =>
    request("POST", `${addressesOf(twins, "splunk").url}/services${path}`, {
      headers: { authorization: `Splunk ${SEED_HEC_TOKEN}` },
      body,
    });
  const events = (from: number) =>
    Array.from({ length: EACH }, (_, n) => JSON.stringify({ event: { n: from + n, text } })).join("");

  test("answers 503 with code 9, says that its queues are full, and has all that it took", async () => {
    const healthOf = () => request("GET", `${addressesOf(twins, "splunk").url}/services/collector/health`);
    expect((await healthOf()).body).toEqual({ text: "HEC is healthy", code: 17 });
    let taken = 0;
    let answer = await send("/collector", events(0));
    for (; answer.status === 200 && taken < 100_000; answer = await send("/collector", events(taken)))
      taken += EACH;
    expect(taken).toBeGreaterThan(EACH);
    expect(answer.status).toBe(503);
    expect(answer.body).toEqual({ text: "Server is busy", code: 9 });
    const health = await healthOf();
    expect(health.status).toBe(503);
    expect(health.body).toEqual({ text: "HEC is unhealthy, queues are full", code: 18 });
    expect((await control("splunk", "GET", "/health")).body.status).toBe("degraded");
    expect((await control("splunk", "GET", "/data")).body.counts.events).toBe(taken);
    expect((await control("splunk", "POST", "/reset")).status).toBe(200);
    expect((await send("/collector", events(0))).status).toBe(200);
    expect((await healthOf()).status).toBe(200);
  });

  test("changes no table when its events cannot be reset", async () => {
    const data = { macros: [{ name: "kept", definition: "index=main" }] };
    expect((await control("splunk", "POST", "/data", { data })).status).toBe(201);
    const before = (await control("splunk", "GET", "/data")).body;
    // In place of a disk without room for an empty store.
    const resetting = vi
      .spyOn(LazyStore.prototype, "reset")
      .mockRejectedValueOnce(new StoreFull("the disk is full: make room on it"));
    expect((await control("splunk", "POST", "/reset")).status).toBe(503);
    expect(resetting).toHaveBeenCalledOnce();
    resetting.mockRestore();
    expect((await control("splunk", "GET", "/data")).body).toEqual(before);
    expect((await control("splunk", "POST", "/reset")).status).toBe(200);
    expect((await control("splunk", "GET", "/data")).body.counts.macros).toBe(0);
  });
});
